#pragma once
#include <algorithm>

namespace kolmo::predict {

/// The quantile of Student's distribution whose level has the normal quantile z, by Hill's expansion (1970): within 1 % for 3 degrees
/// of freedom or more, which fewer are taken for.
inline double student_quantile(double z, double freedom) {
  const double v = std::max(freedom, 3.), s = z * z;
  const double a = z * (s + 1) / 4, b = z * ((5 * s + 16) * s + 3) / 96,
               c = z * (((3 * s + 19) * s + 17) * s - 15) / 384;
  return z + (a + (b + c / v) / v) / v;
}

}  // namespace kolmo::predict
