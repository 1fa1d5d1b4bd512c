#pragma once
// CUDA's arithmetic intrinsics. "Fast" functions (__expf, ...) are as accurate as the C library's. FMA is
// used only where it is written (compile kernels with -ffp-contract=off).

#include <math.h>
#include <stdlib.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <type_traits>

#include "simt/language.hpp"

namespace simt {

/// Converts x to an integer; saturates and maps NaN to 0, as the hardware does.
template <class To, class From>
To saturating_cast(From x) {
  if (x != x) return 0;
  if (x <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (x >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(x);
}

template <class T>
concept Arithmetic = std::is_arithmetic_v<T>;

inline namespace cuda {

template <Arithmetic A, Arithmetic B>
constexpr auto max(A a, B b) {
  using T = std::common_type_t<A, B>;
  const T x = static_cast<T>(a), y = static_cast<T>(b);
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(std::fmax(x, y));
  else
    return x < y ? y : x;
}
template <Arithmetic A, Arithmetic B>
constexpr auto min(A a, B b) {
  using T = std::common_type_t<A, B>;
  const T x = static_cast<T>(a), y = static_cast<T>(b);
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(std::fmin(x, y));
  else
    return y < x ? y : x;
}

template <class T>
T __ldg(const T* p) {
  return *p;
}
template <class T>
T __ldcs(const T* p) {
  return *p;
}
template <class T>
T __ldcg(const T* p) {
  return *p;
}
template <class T>
T __ldca(const T* p) {
  return *p;
}
template <class T>
void __stcs(T* p, std::type_identity_t<T> v) {
  *p = v;
}
template <class T>
void __stcg(T* p, std::type_identity_t<T> v) {
  *p = v;
}
template <class T>
void __stwt(T* p, std::type_identity_t<T> v) {
  *p = v;
}

inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline double rsqrt(double x) { return 1 / sqrt(x); }
inline float rcbrtf(float x) { return 1 / cbrtf(x); }
inline double rcbrt(double x) { return 1 / cbrt(x); }
inline double sinpi(double x) { return ::sin(M_PI * fmod(x, 2.0)); }
inline double cospi(double x) { return ::cos(M_PI * fmod(x, 2.0)); }
inline float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
inline float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
inline void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }
inline void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }
inline double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
inline float normcdff(float x) { return static_cast<float>(normcdf(static_cast<double>(x))); }

inline float __saturatef(float x) { return fminf(fmaxf(x, 0), 1); }
inline float __fdividef(float x, float y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }

inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return static_cast<float>(1 / sqrt(static_cast<double>(x))); }
inline float __frcp_rn(float x) { return 1 / x; }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dsub_rn(double x, double y) { return x - y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline double __drcp_rn(double x) { return 1 / x; }

// __<from>2<integer>_{rn,rz,rd,ru}: to nearest even, to zero, down, up.
#define SIMT_CONVERT(from, From, to, To)                                                    \
  inline To __##from##2##to##_rn(From x) { return saturating_cast<To>(std::nearbyint(x)); } \
  inline To __##from##2##to##_rz(From x) { return saturating_cast<To>(std::trunc(x)); }     \
  inline To __##from##2##to##_rd(From x) { return saturating_cast<To>(std::floor(x)); }     \
  inline To __##from##2##to##_ru(From x) { return saturating_cast<To>(std::ceil(x)); }
SIMT_CONVERT(float, float, int, int)
SIMT_CONVERT(float, float, uint, unsigned)
SIMT_CONVERT(float, float, ll, long long)
SIMT_CONVERT(float, float, ull, unsigned long long)
SIMT_CONVERT(double, double, int, int)
SIMT_CONVERT(double, double, uint, unsigned)
SIMT_CONVERT(double, double, ll, long long)
SIMT_CONVERT(double, double, ull, unsigned long long)
#undef SIMT_CONVERT
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(std::bit_cast<unsigned long long>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(std::bit_cast<unsigned long long>(x)); }
inline double __hiloint2double(int hi, int lo) {
  return std::bit_cast<double>(static_cast<unsigned long long>(hi) << 32 | static_cast<unsigned>(lo));
}

inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned long long __brevll(unsigned long long x) {
  unsigned long long reversed = 0;
  for (int i = 0; i < 64; ++i) reversed = reversed << 1 | (x >> i & 1);
  return reversed;
}
inline unsigned __brev(unsigned x) { return static_cast<unsigned>(__brevll(x) >> 32); }
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(hi) << 32 | lo) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(hi) << 32 | lo) >> (shift & 31));
}
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const auto bytes = static_cast<unsigned long long>(b) << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned chosen = selector >> 4 * i;
    unsigned byte = static_cast<unsigned>(bytes >> (chosen & 7) * 8) & 255;
    if (chosen & 8) byte = byte & 128 ? 255 : 0;  // replicates the sign
    result |= byte << 8 * i;
  }
  return result;
}

inline long long clock64() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace cuda
}  // namespace simt

// The C library declares these names, so they cannot be in a namespace. This attribute prevents them from
// becoming symbols.
#define SIMT_FAST extern inline __attribute__((gnu_inline, always_inline))
SIMT_FAST float __expf(float x) noexcept { return expf(x); }
SIMT_FAST float __exp10f(float x) noexcept { return powf(10, x); }
SIMT_FAST float __logf(float x) noexcept { return logf(x); }
SIMT_FAST float __log2f(float x) noexcept { return log2f(x); }
SIMT_FAST float __log10f(float x) noexcept { return log10f(x); }
SIMT_FAST float __sinf(float x) noexcept { return sinf(x); }
SIMT_FAST float __cosf(float x) noexcept { return cosf(x); }
SIMT_FAST float __tanf(float x) noexcept { return tanf(x); }
SIMT_FAST float __tanhf(float x) noexcept { return tanhf(x); }
SIMT_FAST float __powf(float x, float y) noexcept { return powf(x, y); }
SIMT_FAST void __sincosf(float x, float* s, float* c) noexcept { *s = sinf(x), *c = cosf(x); }
#undef SIMT_FAST
