#pragma once
#include <cmath>

#include "kolmo/base/philox.hpp"

namespace kolmo::portable {

// Elementary functions built only from IEEE additions, multiplications, divisions and square roots.
// Mathematical libraries differ in the last bit of sin and log; with these functions simulated data has the
// same bits on every machine. Their errors are below 1e-15.

/// sin(2 pi t). Since t counts turns, its reduction to less than half a turn is exact.
inline double sin_turns(double t) {
  double r = t - std::floor(t + 0.5);
  if (r > 0.25) r = 0.5 - r;
  if (r < -0.25) r = -0.5 - r;
  const double x = 6.283185307179586 * r, square = x * x;
  double series = 1;  // 1 - x^2/(2*3) (1 - x^2/(4*5) (1 - ...))
  for (int n = 22; n >= 2; n -= 2) series = 1 - square / (n * (n + 1)) * series;
  return x * series;
}

/// The natural logarithm of a positive finite number.
inline double log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0.7071067811865476) mantissa *= 2, --exponent;
  const double s = (mantissa - 1) / (mantissa + 1), square = s * s;
  double series = 0;  // artanh(s) / s = 1 + s^2/3 + s^4/5 + ...
  for (int n = 25; n >= 1; n -= 2) series = series * square + 1.0 / n;
  return exponent * 0.6931471805599453 + 2 * s * series;
}

/// Random numbers that (stream, i, j) addresses: a number does not depend on which others are drawn, or in
/// which order.
class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}

  /// Uniform in [low, high).
  double uniform(std::uint32_t stream, std::uint64_t i, std::uint32_t j, double low = 0,
                 double high = 1) const {
    const auto words = at(stream, i, j);
    return low + (high - low) * uniform53(words.w[0], words.w[1]);
  }
  /// Uniform in {0, ..., n - 1}.
  int below(int n, std::uint32_t stream, std::uint64_t i, std::uint32_t j) const {
    return int(std::uint64_t(at(stream, i, j).w[0]) * std::uint64_t(n) >> 32);
  }
  /// A standard normal number, by the transform of Box and Muller (1958).
  double normal(std::uint32_t stream, std::uint64_t i, std::uint32_t j) const {
    const auto words = at(stream, i, j);
    const double radius = std::sqrt(-2 * log(1 - uniform53(words.w[0], words.w[1])));
    return radius * sin_turns(uniform53(words.w[2], words.w[3]));
  }

 private:
  Philox::Words at(std::uint32_t stream, std::uint64_t i, std::uint32_t j) const {
    return generator_(i, std::uint64_t(stream) << 32 | j);
  }
  Philox generator_;
};

}  // namespace kolmo::portable
