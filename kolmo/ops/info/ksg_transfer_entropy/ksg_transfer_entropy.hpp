#pragma once
#include "kolmo/knn/ksg_options.hpp"
#include "kolmo/op/op.hpp"

namespace kolmo {

struct KsgTransferEntropyArgs {
  In source{}, target{};
  OptIn given{};
  Out value{};
  OptOut local{};
  std::int64_t history = 1, tau = 1, source_history = 1, source_tau = 1, lag = 1;
  std::int64_t k = 4, theiler = 0, surrogates = 0, block_length = 0, min_shift = 1;
  std::uint64_t seed = 0;
  KsgAlgorithm algorithm = KsgAlgorithm::ksg1;
  SurrogateType surrogate_type = SurrogateType::permute;

  static constexpr auto fields() {
    using A = KsgTransferEntropyArgs;
    return with_ksg_options<A>(std::array{
        field<&A::source>("source", "b trials n", reals, "b candidate source series, in trials of n samples"),
        field<&A::target>("target", "trials n", reals, "target series; no embedding crosses trials"),
        field<&A::given>("given", "g trials n", reals,
                         "series conditioned on, each by its value one step before"),
        field<&A::value>("value", "b e", DTypes::of(DType::f64),
                         "estimates in nats: observed, then surrogates"),
        field<&A::local>(
            "local", "b trials rows", DTypes::of(DType::f64),
            "local values in nats of the last rows samples of each trial, those with a whole past"),
        option<&A::history>("history", 1, 16, "past values of the target"),
        option<&A::tau>("tau", 1, 1'000'000'000, "steps between past values of the target"),
        option<&A::source_history>("source_history", 1, 16, "past values of the source"),
        option<&A::source_tau>("source_tau", 1, 1'000'000'000, "steps between past values of the source"),
        option<&A::lag>("lag", 1, 1'000'000'000,
                        "steps from the newest source value to the target's next value"),
    });
  }
};

/// Transfer entropy T = I(source past; target next | target past) in nats by k nearest neighbours, over every
/// t for which all these values lie within its trial:
///   target next    x_t
///   target past    x_{t-1-i tau},                i < history
///   source past    s_{t-lag-j source_tau},       j < source_history
/// Each of the g given series adds its value at t-1 to the condition. The series are not standardised: do so
/// first if their scales differ. Surrogates rearrange the embedded rows of the source. No Theiler
/// window reaches into another trial. Estimators, counts and errors are those of ksg_conditional_mutual_information.
/// Sources: Schreiber, PRL 85, 461 (2000); Wibral et al. (2014).
extern const Op<KsgTransferEntropyArgs> ksg_transfer_entropy;

}  // namespace kolmo
