#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kolmo/base/hd.hpp"

namespace kolmo {

/// a / b, rounded once, for b and a / b from 2^-900 to 2^900, a = 0, too: a kernel's a / b tests for other numbers, and
/// takes a longer way for a = 0.
KOLMO_HD constexpr double exact_quotient(double a, double b) {
#ifdef __CUDA_ARCH__
  if (!std::is_constant_evaluated()) {
    double inverse;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(b));
    const double error = __fma_rn(-b, inverse, 1);  // of 2^-20; the next one has its cube
    inverse = __fma_rn(inverse, __fma_rn(error, error, error), inverse);
    inverse = __fma_rn(inverse, __fma_rn(-b, inverse, 1), inverse);
    const double quotient = __dmul_rn(a, inverse);
    return __fma_rn(__fma_rn(-b, quotient, a), inverse, quotient);
  }
#endif
  return a / b;
}

/// c0 + c1 x + c2 x^2 + ... by Horner's rule, each operation rounded: same bits on every device.
template <class T>
KOLMO_HD constexpr T exact_polynomial(T, std::type_identity_t<T> c0) {
  return c0;
}
template <class T, class... C>
KOLMO_HD constexpr T exact_polynomial(T x, std::type_identity_t<T> c0, C... rest) {
  return exact_add(c0, exact_mul(x, exact_polynomial(x, rest...)));
}

/// ln(2^k x) for a normal x > 0 in pure double arithmetic: same bits on every device, error below 1 ulp.
/// Method: x = 2^k m with m in [sqrt(1/2), sqrt(2)), f = m - 1, ln m = 2 artanh(s) with s = f / (2 + f). The
/// series of artanh is truncated below 2^-60. f - f^2/2 is split off because it holds nearly all of ln m.
KOLMO_HD constexpr double log_scaled(double x, int k) {
  constexpr std::uint64_t one = 0x3ff0000000000000, sqrt_half = 0x3fe6a09e667f3bcd;
  const std::uint64_t shifted = std::bit_cast<std::uint64_t>(x) + (one - sqrt_half);
  k += int(shifted >> 52) - 1023;
  const double m = std::bit_cast<double>((shifted & 0xfffffffffffff) + sqrt_half), f = m - 1;
  const double s = exact_quotient(f, 2 + f), z = exact_mul(s, s),
               half_square = exact_mul(0.5, exact_mul(f, f));
  const double series = exact_mul(z, exact_polynomial(z, 2. / 3, 2. / 5, 2. / 7, 2. / 9, 2. / 11, 2. / 13,
                                                      2. / 15, 2. / 17, 2. / 19, 2. / 21));
  // ln 2 in two parts; k times the first is exact.
  constexpr double ln2_high = 0x1.62e42fefap-1, ln2_low = 0x1.cf79abc9e3b3ap-40;
  const double small = exact_add(exact_mul(s, exact_add(half_square, series)), exact_mul(k, ln2_low));
  return exact_add(exact_mul(k, ln2_high), exact_add(f, -exact_add(half_square, -small)));
}

/// Whether x is in [2^low, 2^high): one comparison of integers.
template <int Low, int High>
KOLMO_HD constexpr bool is_between(double x) {
  constexpr std::uint32_t from = std::uint32_t(Low + 1023) << 20, range = std::uint32_t(High - Low) << 20;
  return std::uint32_t(std::bit_cast<std::uint64_t>(x) >> 32) - from < range;
}
/// Whether x is positive, finite and not subnormal.
KOLMO_HD constexpr bool is_normal(double x) { return is_between<-1022, 1024>(x); }

/// ln x with the accuracy of log_scaled. Subnormals keep this accuracy. log(0) = -inf, log(inf) = inf, NaN
/// for x < 0.
KOLMO_HD constexpr double log_exact(double x) {
  if (is_normal(x)) return log_scaled(x, 0);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!(x > 0)) return x == 0 ? -infinity : std::numeric_limits<double>::quiet_NaN();
  return x == infinity ? x : log_scaled(exact_mul(x, 0x1p54), -54);
}

}  // namespace kolmo
