#pragma once
#include "kolmo/flow/infer/network.hpp"

namespace kolmo {

/// Chooses the embedding of each target by options.embedding; the first step of
/// infer_network.
///   ais        the largest active information storage less its bias: of gaussian gaussian_bias, of discrete and
///              ordinal discrete_bias, of ksg 0 (docs/network_inference.md, "The bias of storage")
///   ragwitz    the smallest mean squared error of predicting the next value by the mean over the nearest
///              neighbours' next values
///   given      options.target
/// Candidates are compared on the same rows. Of equally good ones the one with the smallest history is
/// chosen.
/// Source: Ragwitz, Kantz, Phys. Rev. E 65, 056201 (2002).
std::vector<TargetResult> choose_embeddings(const Series& series, const NetworkOptions& options,
                                            std::span<const std::int32_t> targets, Stream& stream);

/// The work of choosing the embedding of a target, in estimates times rows.
double embedding_work(const Series& series, const NetworkOptions& options);

/// Estimates the active information storage of the targets with the embeddings that were chosen.
void measure_storage(const Series& series, const NetworkOptions& options, std::span<TargetResult> targets,
                     Stream& stream);

}  // namespace kolmo
