#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct RandomNormalArgs {
  Out values;
  std::int64_t n = 0, seed = 0, offset = 0;
  double mean = 0, deviation = 1;

  static constexpr auto fields() {
    using A = RandomNormalArgs;
    return std::tuple{
        Field{"values", &A::values, "n", floats, "random numbers"},
        Option{"n", &A::n, 0, 0x1p40, "how many"},
        Option{"seed", &A::seed, -unlimited, unlimited, "which sequence"},
        Option{"offset", &A::offset, 0, 0x1p60, "place of the first value in the sequence"},
        Option{"mean", &A::mean, -unlimited, unlimited, "mean"},
        Option{"deviation", &A::deviation, 0, unlimited, "standard deviation"},
    };
  }
};

/// values = mean + deviation z with z standard normal, by inversion: z is the quantile of the middle of one
/// of 2^32 equal shares of probability (f64: 2^52), so |z| <= 6.4 (f64: 8.3). Elements offset ... offset + n
/// - 1 of the sequence that seed and dtype give, so that calls with neighbouring offsets continue each other.
/// Computed in double for f64, else in float, in operations that every device rounds alike: same bits.
/// Sources: Philox4x32-10, Salmon et al., SC 2011; quantile: Wichura, AS 241, Applied Statistics 37, 1988.
extern const Op<RandomNormalArgs> random_normal;

}  // namespace kolmo
