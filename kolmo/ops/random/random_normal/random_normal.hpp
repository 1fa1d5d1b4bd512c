#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct RandomNormalArgs {
  Out values;
  std::int64_t n = 0, offset = 0;
  std::uint64_t seed = 0;
  double mean = 0, deviation = 1;

  static constexpr auto fields() {
    using A = RandomNormalArgs;
    return std::array{
        field<&A::values>("values", "n", floats, "random numbers"),
        option<&A::n>("n", 0, std::int64_t(1) << 40, "how many"),
        option<&A::seed>("seed", "which sequence"),
        option<&A::offset>("offset", 0, std::int64_t(1) << 60, "place of the first value in the sequence"),
        option<&A::mean>("mean", "mean"),
        option<&A::deviation>("deviation", 0, unlimited, "standard deviation"),
    };
  }
};

/// values = mean + deviation z with z standard normal. Elements 2p and 2p + 1 of the sequence of a seed and
/// dtype use
///   z_2p = sqrt(-2 ln u) cos(2 pi v),  z_2p+1 = sqrt(-2 ln u) sin(2 pi v)
/// where u is the midpoint of one of 2^31 equal cells of (0, 1), and v of one of 2^32 (f64: 2^51 and 2^52),
/// so |z| <= 6.7 (f64: 8.5). Writes elements offset ... offset + n - 1, so calls with adjoining offsets
/// continue each other. Computed in double for f64, else in float, by operations that every device rounds
/// alike: same bits on every device.
/// Sources: Philox4x32-10, Salmon et al., SC 2011; Box, Muller, Ann. Math. Statist. 29, 610-611, 1958.
extern const Op<RandomNormalArgs> random_normal;

}  // namespace kolmo
