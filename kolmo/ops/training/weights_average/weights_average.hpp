#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct WeightsAverageArgs {
  In weights, power, memory;
  InOut averages;
  std::int64_t step = 1;

  static constexpr auto fields() {
    using A = WeightsAverageArgs;
    return std::array{
        field<&A::weights>("weights", "n", floats, "w_k, the weights after step k of a training"),
        field<&A::power>("power", "m", DTypes::of(DType::boolean), "which averages are power averages",
                         Domain::mask),
        field<&A::memory>("memory", "m", DTypes::of(DType::f64),
                          "gamma of a power average, decay of an exponential one", Domain::unit),
        field<&A::averages>("averages", "m n", reals.as("R"), "before and after w_k joins them"),
        option<&A::step>("step", 1, 1'000'000'000'000, "number k of these weights, from 1")
            .no_matter_for_speed(),
    };
  }
};

/// Lets the weights of a training join m averages of all weights so far, in one pass over them:
///   a <- a + s (w_k - a),   s = 1 - (1 - 1/k)^(gamma + 1) of a power average,
///                           s = max(1 - decay, 1/k)       of an exponential one
/// At k = 1 every average becomes w_1, whatever it held. A power average weighs w_j about as j^gamma, so that it remembers a
/// fixed share of the training; the spread of its profile relative to k is .10 for gamma = 6.94 and .05 for 16.97. An
/// exponential one is the plain mean for its first 1 / (1 - decay) steps. Weights are f64, f32, f16, bf16, averages f64 or f32,
/// in which the sum is computed. A change below half an ulp of an f32 average is lost. Same bits on every device.
/// Faults: a gamma that is negative or not finite; a decay outside of 0 to 1. Unchecked, its average is without meaning.
/// Source: Karras et al., CVPR 2024 (power-function averages); Polyak & Juditsky, SIAM J. Control Optim. 30, 1992.
extern const Op<WeightsAverageArgs> weights_average;

}  // namespace kolmo
