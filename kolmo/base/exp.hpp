#pragma once
#include <bit>
#include <cstdint>

#include "kolmo/base/log.hpp"

namespace kolmo {

/// e^x in pure double arithmetic for x up to 709: same bits on every device, error below 1 ulp; 0 below -708.
/// Method: x = k ln 2 + r with |r| < 0.35; the series of e^r is truncated below 2^-57.
KOLMO_HD constexpr double exp_exact(double x) {
  if (!(x >= -708)) return 0;
  const double scaled = exact_mul(x, 1.4426950408889634);
  const auto k = std::int64_t(exact_add(scaled, x < 0 ? -0.5 : 0.5));
  constexpr double ln2_high = 0x1.62e42fefap-1,
                   ln2_low = 0x1.cf79abc9e3b3ap-40;  // k times the first is exact
  const double r = exact_add(exact_add(x, -exact_mul(double(k), ln2_high)), -exact_mul(double(k), ln2_low));
  const double series =
      exact_polynomial(r, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320, 1. / 362880,
                       1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800);
  const double power = exact_add(1, exact_add(r, exact_mul(exact_mul(r, r), series)));
  return exact_mul(power, std::bit_cast<double>(std::uint64_t(k + 1023) << 52));
}

}  // namespace kolmo
