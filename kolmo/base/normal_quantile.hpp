#pragma once
#include <cmath>

namespace kolmo {

/// Returns z with P(|Z| < z) = level for a standard normal Z, 0 <= level < 1: half the width of a two-sided
/// interval. Solves erfc(z / sqrt 2) = 1 - level by Newton's method, which rises from 0 to the root. Runs on
/// the host.
inline double two_sided_quantile(double level) {
  double z = 0;
  for (int i = 0; i < 100; ++i) {
    const double step = (std::erfc(z * 0.70710678118654752440) - (1 - level)) /
                        (0.79788456080286535588 * std::exp(-0.5 * z * z));
    z += step;
    if (std::fabs(step) <= 1e-15 * z) break;
  }
  return z;
}

}  // namespace kolmo
