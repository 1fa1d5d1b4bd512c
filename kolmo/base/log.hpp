#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kolmo/base/hd.hpp"

namespace kolmo {

/// a / b, rounded once, for b and a / b from 2^-900 to 2^900, and for a = 0. In a kernel the operator / would
/// also test for numbers outside this range, and would take a slower path for a = 0.
KOLMO_HD constexpr double exact_quotient(double a, double b) {
#ifdef __CUDA_ARCH__
  if (!std::is_constant_evaluated()) {
    double inverse;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(b));
    const double error = __fma_rn(-b, inverse, 1);  // the error is near 2^-20; the next line leaves its cube
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

/// KOLMO_NUMBERS(name, ...) defines name(), an array of numbers. On a GPU it lies in constant memory, from
/// which an instruction reads its operand directly; a literal would take further instructions.
#ifdef __CUDA_ARCH__
#define KOLMO_OF_SIDE(host, gpu) gpu
#else
#define KOLMO_OF_SIDE(host, gpu) host
#endif
#ifdef __CUDACC__
#define KOLMO_NUMBERS(name, ...)                              \
  inline constexpr double name##_of_host[] = {__VA_ARGS__};   \
  static __constant__ double name##_of_gpu[] = {__VA_ARGS__}; \
  KOLMO_HD constexpr const auto& name() { return KOLMO_OF_SIDE(name##_of_host, name##_of_gpu); }
#else
#define KOLMO_NUMBERS(name, ...)                            \
  inline constexpr double name##_of_host[] = {__VA_ARGS__}; \
  constexpr const auto& name() { return name##_of_host; }
#endif

/// The polynomial with the coefficients c[0], c[1], ..., evaluated in the same way.
template <int I = 0, int N>
KOLMO_HD constexpr double exact_polynomial(double x, const double (&c)[N]) {
  if constexpr (I == N - 1)
    return c[I];
  else
    return exact_add(c[I], exact_mul(x, exact_polynomial<I + 1>(x, c)));
}

namespace detail {

/// Sixteen intervals divide [0.703125, 1.40625). Each has a point c near its middle, whose ln c is within
/// 2^-64 of a multiple of 2^-42; stored are c, 1 / c and ln c. Each of the three arrays fills one cache line
/// of a GPU, so that lanes which read different elements do not wait for each other.
struct alignas(128) LogPoints {
  double point[16], inverse[16], log[16];
};
// clang-format off
inline constexpr LogPoints log_points{
    {0x1.6fd83c142p-1, 0x1.7fd5e7381p-1, 0x1.8fd6af0e5p-1, 0x1.9fde1bbbep-1, 0x1.afdb615c3p-1, 0x1.bfd983aa4p-1,
     0x1.cfd9f39a7p-1, 0x1.dfdac14p-1, 0x1.efdf2f67fp-1, 1, 0x1.0fc3b9084p+0, 0x1.1fc8a0f918p+0, 0x1.2fcaf43118p+0,
     0x1.3fccc2a8d8p+0, 0x1.4fcc8dfba8p+0, 0x1.5fcf0125dp+0},
    {0x1.6453068113363p+0, 0x1.557ac4cc545cbp+0, 0x1.47cff09c292b7p+0, 0x1.3b2d5eb22562ap+0, 0x1.2f82062457487p+0,
     0x1.24ab6d7b0a1f7p+0, 0x1.1a92c1e9cd989p+0, 0x1.112642ecb1a93p+0, 0x1.08538d53e6f0ap+0, 1, 0x1.e24cc379f0c5ap-1,
     0x1.c77402a7eb248p-1, 0x1.af73b4ee6f5e2p-1, 0x1.99db3a4de990fp-1, 0x1.86542508bd80ep-1, 0x1.7490f2f67a987p-1},
    {-0x1.52998d2b4ep-2, -0x1.2706695028p-2, -0x1.fa655bacfp-3, -0x1.a9e5b481eep-3, -0x1.5ca1a8ce14p-3, -0x1.1228def058p-3,
     -0x1.9485d3ccd4p-4, -0x1.09976ae26p-4, -0x1.0633e3d838p-5, 0, 0x1.e98ada4bp-5, 0x1.df5caac2ccp-4, 0x1.5e8d8ad2f4p-3,
     0x1.c7b7733afcp-3, 0x1.15d8f586f7p-2, 0x1.458a29e93cp-2}};
// clang-format on

#ifdef __CUDACC__
static __device__ const LogPoints log_points_on_gpu = log_points;
#endif
KOLMO_HD constexpr const LogPoints& points_of_log() { return KOLMO_OF_SIDE(log_points, log_points_on_gpu); }

/// (ln(1 + r) - r) / r^2 for |r| <= 1/32, interpolated at Chebyshev nodes: error 2^-56 / |r|.
KOLMO_NUMBERS(log_series, -0.5, 0.3333333333333795, -0.25000000001673606, 0.19999999949204686,
              -0.16666657173502394, 0.14285846951075457, -0.12517367895253162, 0.11020614093173205)
/// ln 2 in two parts; k times the first is exact.
KOLMO_NUMBERS(parts_of_ln2, 0x1.62e42fefap-1, 0x1.cf79abc9e3b3ap-40)

}  // namespace detail

/// ln(2^k x) for a normal x > 0 in pure double arithmetic: same bits on every device. The error is below 1
/// ulp, or below 2^-56 where |ln| < 1/8. Method: x = 2^k m with m in [0.703125, 1.40625), ln m = ln
/// c + ln(1 + r) with r = (m - c) / c for a point c near m, whose logarithm is tabulated (Tang, ACM TOMS
/// 1990; points as in Gal, Bachelis, ACM TOMS 1991).
KOLMO_HD constexpr double log_scaled(double x, int k) {
  constexpr std::uint64_t one = 0x3ff0000000000000, least = 0x3fe6800000000000;
  const auto& points = detail::points_of_log();
  const auto& [ln2_high, ln2_low] = detail::parts_of_ln2();
  const std::uint64_t shifted = std::bit_cast<std::uint64_t>(x) + (one - least);
  const double m = std::bit_cast<double>((shifted & 0xfffffffffffff) + least),
               exponent = k + int(shifted >> 52) - 1023;
  const int i = int(shifted >> 48) & 15;
  const double r = exact_mul(m - points.point[i], points.inverse[i]);
  const double small = exact_add(exact_mul(exact_mul(r, r), exact_polynomial(r, detail::log_series())),
                                 exact_mul(exponent, ln2_low));
  return exact_add(exact_add(exact_mul(exponent, ln2_high), points.log[i]), exact_add(r, small));
}

/// Whether x is in [2^low, 2^high): one comparison of integers.
template <int Low, int High>
KOLMO_HD constexpr bool is_between(double x) {
  constexpr std::uint32_t from = std::uint32_t(Low + 1023) << 20, range = std::uint32_t(High - Low) << 20;
  return std::uint32_t(std::bit_cast<std::uint64_t>(x) >> 32) - from < range;
}
/// Whether x is positive and at most 2^450 times larger or smaller than 1, so that the quotient of two such
/// numbers is normal.
KOLMO_HD constexpr bool is_moderate(double x) { return is_between<-450, 450>(x); }
/// Whether x is positive, finite and not subnormal.
KOLMO_HD constexpr bool is_normal(double x) { return is_between<-1022, 1024>(x); }

/// ln x with the accuracy of log_scaled, for subnormal x too. log(0) = -inf, log(inf) = inf, NaN for x < 0.
KOLMO_HD constexpr double log_exact(double x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  int k = 0;
  if (!is_normal(x)) {
    if (!(x > 0)) return x == 0 ? -infinity : std::numeric_limits<double>::quiet_NaN();
    if (x == infinity) return x;
    x = exact_mul(x, 0x1p54), k = -54;
  }
  return log_scaled(x, k);
}

}  // namespace kolmo
