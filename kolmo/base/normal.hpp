#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "kolmo/base/log.hpp"

namespace kolmo {

template <class T>
struct NormalPair {
  T first, second;
};

namespace detail {

/// -2 ln(odd / 2^32). Near 1 the difference from 1 is rounded instead of the argument, which avoids
/// cancellation.
KOLMO_HD inline float square_radius(std::uint32_t odd) {
  constexpr std::uint32_t one = 0x3f800000, sqrt_half = 0x3f3504f3;
  const std::uint32_t shifted = std::bit_cast<std::uint32_t>(float(odd)) + (one - sqrt_half);
  const int k = int(shifted >> 23) - (127 + 32);
  const float m = std::bit_cast<float>((shifted & 0x7fffff) + sqrt_half);
  const float f = k == 0 ? exact_mul(float(0u - odd), -0x1p-32f) : exact_add(m, -1.0f);
  const float rest =  // (ln(1 + f) - f) / f^2, error 1e-8 of ln(1 + f)
      exact_polynomial(f, -0.4999999765, 0.3333333003, -0.2500078124, 0.2000123446, -0.1662664563,
                       0.1420485595, -0.1312755565, 0.1272267279, -0.07673641502);
  const float log = exact_add(f, exact_mul(exact_mul(f, f), rest));
  return exact_mul(exact_add(exact_mul(float(k), 0x1.62e43p-1f), log), -2.0f);
}
/// -2 ln(odd / 2^52), odd < 2^52.
KOLMO_HD inline double square_radius(std::uint64_t odd) {
  const double x = exact_add(std::bit_cast<double>(0x4330000000000000 | odd), -0x1p52);
  return exact_mul(log_scaled(x, -52), -2.0);
}

/// Cosine and sine of y quarters of a turn, |y| <= 1/2. The errors before rounding are 1e-9 (float) and 1e-17
/// (double).
KOLMO_HD inline NormalPair<float> cos_sin(float y) {
  const float z = exact_mul(y, y);
  return {exact_polynomial(z, 1, -1.23370054063316222, 0.253669203655113475, -0.0208600695002640771,
                           0.000903628066380250492),
          exact_mul(y, exact_polynomial(z, 1.57079632195323668, -0.645963477664811796, 0.0796802176477554134,
                                        -0.00460214921281417593))};
}
KOLMO_NUMBERS(cosine_series, 1, -1.233700550136169812, 0.2536695079010467091, -0.0208634807633112091,
              0.0009192602741831557208, -0.00002520203677046025844, 4.710609726757823012e-7,
              -6.321256869628588411e-9)
KOLMO_NUMBERS(sine_series, 1.570796326794896614, -0.6459640975062443157, 0.07969262624604300313,
              -0.004681754132340975992, 0.0001604411507421909105, -3.598643352982309702e-6,
              5.633933781537853954e-8)
KOLMO_HD inline NormalPair<double> cos_sin(double y) {
  const double z = exact_mul(y, y);
  return {exact_polynomial(z, cosine_series()), exact_mul(y, exact_polynomial(z, sine_series()))};
}

/// `radius` times cosine and sine of q + y quarters of a turn.
template <class Bits, class T>
KOLMO_HD NormalPair<T> at_angle(T radius, unsigned q, T y) {
  const NormalPair<T> p = cos_sin(y);
  const auto with_sign = [](T v, unsigned negative) {
    return std::bit_cast<T>(std::bit_cast<Bits>(v) ^ Bits(negative) << (8 * sizeof(T) - 1));
  };
  return {exact_mul(radius, with_sign(q & 1 ? p.second : p.first, (q + 1) >> 1 & 1)),
          exact_mul(radius, with_sign(q & 1 ? p.first : p.second, q >> 1 & 1))};
}

}  // namespace detail

/// Two independent standard normal numbers, sqrt(-2 ln u) cos(2 pi v) and sqrt(-2 ln u) sin(2 pi v), from
/// random bits. (0, 1) is divided into equal cells, and u and v are cell midpoints:
///   float     u: 2^31 cells, all bits of a but the last; v: 2^32 cells, all bits of b; |z| <= 6.7
///   double    u: 2^51 cells, upper 52 bits of a but the last; v: 2^52 cells, upper 52 of b; |z| <= 8.5
/// Absolute error: 4e-7 (float) or 1e-15 (double) times max(1, sqrt(-2 ln u)). Only exactly rounded
/// operations are used: same bits on every device.
/// Source: Box, Muller, Annals of Mathematical Statistics 29, 1958.
KOLMO_HD inline NormalPair<float> normal_pair(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t q = (b + (1u << 29)) >> 30;
  const auto from_quarter = std::int32_t(b - (q << 30));
  const float y = exact_mul(float(2 * from_quarter + 1), 0x1p-31f);
  return detail::at_angle<std::uint32_t>(std::sqrt(detail::square_radius(a | 1)), q, y);
}
KOLMO_HD inline NormalPair<double> normal_pair(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t v = b >> 12, q = (v + (1ull << 49)) >> 50;
  const auto from_quarter = std::int64_t(v - (q << 50));
  // The bits of 1.5 * 2^52 plus an integer below 2^51 are the double 1.5 * 2^52 plus that integer.
  const auto bits = 0x4338000000000000 + std::uint64_t(2 * from_quarter + 1);
  const double y = exact_mul(exact_add(std::bit_cast<double>(bits), -0x1.8p52), 0x1p-51);
  return detail::at_angle<std::uint64_t>(std::sqrt(detail::square_radius(a >> 12 | 1)), unsigned(q), y);
}

}  // namespace kolmo
