#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct RandomUniformArgs {
  Out values;
  std::int64_t n = 0, seed = 0, offset = 0;
  double low = 0, high = 1;

  static constexpr auto fields() {
    using A = RandomUniformArgs;
    return std::tuple{
        Field{"values", &A::values, "n", floats, "random numbers"},
        Option{"n", &A::n, 0, 0x1p40, "how many"},
        Option{"seed", &A::seed, -unlimited, unlimited, "which sequence"},
        Option{"offset", &A::offset, 0, 0x1p60, "place of the first value in the sequence"},
        Option{"low", &A::low, -unlimited, unlimited, "lower end of the interval"},
        Option{"high", &A::high, -unlimited, unlimited, "upper end of the interval"},
    };
  }
};

/// values = low + (high - low) u with u uniform on [0, 1): multiples of 2^-53, 2^-24, 2^-11, 2^-8 in f64,
/// f32, f16, bf16. Elements offset ... offset + n - 1 of the sequence that seed and dtype give, so that calls
/// with neighbouring offsets continue each other. Rounding may give `high` unless low = 0 and high = 1.
/// Computed in double for f64, else in float; same bits on every device. low <= high, both finite. Source:
/// Philox4x32-10, Salmon, Moraes, Dror & Shaw, SC 2011.
extern const Op<RandomUniformArgs> random_uniform;

}  // namespace kolmo
