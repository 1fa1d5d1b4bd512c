#pragma once
#include "kolmo/flow/request/request.hpp"

namespace kolmo {

/// The request with every value chosen that was left out: surrogates and their kind, the rule of the embedding, the device
/// of an estimator that runs on the CPU only. Settling a settled request changes nothing. Throws InvalidArgument, naming the
/// options as on the command line, for options that exclude each other: one of another estimator or test that has not its
/// default value, `history` beside a rule that chooses it, `local_window` without `local`, `dt` without `dt_unit`.
EntropyRequest settled(EntropyRequest request);
MutualInformationRequest settled(MutualInformationRequest request);
StorageRequest settled(StorageRequest request);
TransferEntropyRequest settled(TransferEntropyRequest request);
NetworkRequest settled(NetworkRequest request);

/// Throws InvalidArgument, naming both, for an option that was given although the estimator or test has none of it.
void check_use(const OptionInfo& option, const EstimatorOptions& settled);

/// The use of the options that mutual information has not: those of one pair for all pairs, else those of all pairs.
OptionUse other_pairs(const MutualInformationRequest& request);

/// The options of infer_network but for variables and conditions, which are columns of a table.
NetworkOptions network_options(const NetworkRequest& settled);
NetworkOptions network_options(const TransferEntropyRequest& settled);

}  // namespace kolmo
