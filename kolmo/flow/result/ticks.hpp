#pragma once
#include <cmath>
#include <initializer_list>

namespace kolmo::figures {

/// A step of 1, 2 or 5 times a power of ten that divides `range` into at most `most` parts.
inline double tick_step(double range, int most) {
  const double rough = range / most, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

}  // namespace kolmo::figures
