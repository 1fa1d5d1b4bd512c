#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct RandomUniformArgs {
  Out values;
  std::int64_t n = 0, offset = 0;
  std::uint64_t seed = 0;
  double low = 0, high = 1;

  static constexpr auto fields() {
    using A = RandomUniformArgs;
    return std::array{
        field<&A::values>("values", "n", floats, "random numbers"),
        option<&A::n>("n", 0, std::int64_t(1) << 40, "how many"),
        option<&A::seed>("seed", "which sequence"),
        option<&A::offset>("offset", 0, std::int64_t(1) << 60, "place of the first value in the sequence"),
        option<&A::low>("low", "lower end of the interval"),
        option<&A::high>("high", "upper end of the interval"),
    };
  }
};

/// values = low + (high - low) u with u uniform on the multiples of 2^-53, 2^-24, 2^-11, 2^-8 in [0, 1) for
/// f64, f32, f16, bf16. Writes elements offset ... offset + n - 1 of the sequence of a seed and dtype, so
/// calls with adjoining offsets continue each other. Rounding may give `high` unless low = 0 and high = 1.
/// Computed in double for f64, else in float; same bits on every device. low <= high, both finite.
/// Source: Philox4x32-10, Salmon, Moraes, Dror & Shaw, SC 2011.
extern const Op<RandomUniformArgs> random_uniform;

}  // namespace kolmo
