#pragma once
#include "kolmo/base/ksg.hpp"
#include "kolmo/op/op.hpp"

namespace kolmo {

struct KsgTransferEntropyArgs {
  In source{}, target{};
  OptIn given{};
  Out value{};
  OptOut local{};
  std::int64_t history = 1, tau = 1, source_history = 1, source_tau = 1, lag = 1;
  std::int64_t k = 4, theiler = 0, surrogates = 0, block_length = 0, seed = 0;
  KsgAlgorithm algorithm = KsgAlgorithm::ksg1;
  SurrogateType surrogate_type = SurrogateType::permute;

  static constexpr auto fields() {
    using A = KsgTransferEntropyArgs;
    return std::tuple{
        Field{"source", &A::source, "b trials n", reals, "b candidate source series, in trials of n samples"},
        Field{"target", &A::target, "trials n", reals, "target series; no embedding crosses trials"},
        Field{"given", &A::given, "g trials n", reals,
              "series conditioned on, each by its value one step before"},
        Field{"value", &A::value, "b e", DTypes::of(DType::f64),
              "estimates in nats: observed, then surrogates"},
        Field{"local", &A::local, "b trials rows", DTypes::of(DType::f64),
              "local values in nats of the last rows samples of each trial, those with a whole past"},
        Option{"history", &A::history, 1, 16, "past values of the target"},
        Option{"tau", &A::tau, 1, 1e9, "steps between past values of the target"},
        Option{"source_history", &A::source_history, 1, 16, "past values of the source"},
        Option{"source_tau", &A::source_tau, 1, 1e9, "steps between past values of the source"},
        Option{"lag", &A::lag, 1, 1e9, "steps from the newest source value to the target's next value"},
        Option{"k", &A::k, 1, 64, "number of nearest neighbours"},
        Option{"theiler", &A::theiler, 0, 1e9, "rows this near in time in the same trial are no neighbours"},
        Option{"surrogates", &A::surrogates, 0, 1e6, "surrogates of the source to estimate beside the data"},
        Option{"block_length", &A::block_length, 0, 1e9, "rows in a block of block surrogates; 0: sqrt(n)"},
        Option{"seed", &A::seed, 0, 9e15, "seed of the surrogates"},
        Choice{"algorithm", &A::algorithm, ksg_algorithm_names, "estimator"},
        Choice{"surrogate_type", &A::surrogate_type, surrogate_type_names, "how surrogates are made"},
    };
  }
};

/// Transfer entropy T = I(source past; target next | target past) in nats by k nearest neighbours:
///   next x_t; target past x_{t-1-i tau}, i < history; source past s_{t-lag-j source_tau}, j <
///   source_history;
/// for every t that has all of them inside its trial; g given series add their x_{t-1} to the condition. The
/// series are used as given: standardise them first if their scales differ. Surrogates rearrange the embedded
/// rows of the source. Estimators and conventions as in ksg_conditional_mutual_information. Source:
/// Schreiber, PRL 85, 461 (2000); Wibral et al. (2014).
extern const Op<KsgTransferEntropyArgs> ksg_transfer_entropy;

/// The embedded samples of a problem, in a workspace on its device.
struct EmbeddedSeries {
  std::int64_t back = 0, rows = 0,
               condition = 0;  ///< steps to the oldest value, rows per trial, columns of z
  Tensor x, y, z, set;
  std::size_t bytes = 0;  ///< of workspace
};
EmbeddedSeries embedded(const KsgTransferEntropyArgs& args, void* workspace = nullptr);
struct KsgConditionalMutualInformationArgs;
KsgConditionalMutualInformationArgs estimation(const KsgTransferEntropyArgs& args,
                                               const EmbeddedSeries& series);

}  // namespace kolmo
