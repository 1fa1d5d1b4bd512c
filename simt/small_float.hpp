#pragma once
// 16-bit floating-point numbers and pairs of them: every operation is computed in float and rounded once.

#include <cstdint>

#include "simt/atomic.hpp"
#include "simt/math.hpp"

namespace simt {

/// A 16-bit number. `Format` has static encode(float) -> bits and decode(bits) -> float.
template <class Format>
struct alignas(2) SmallFloat {
  std::uint16_t bits;

  SmallFloat() = default;
  constexpr SmallFloat(float f) : bits(Format::encode(f)) {}
  constexpr SmallFloat(double d) : SmallFloat(static_cast<float>(d)) {}
  template <std::integral I>
  constexpr SmallFloat(I i) : SmallFloat(static_cast<float>(i)) {}
  constexpr operator float() const { return Format::decode(bits); }
  static constexpr SmallFloat from_bits(std::uint16_t bits) {
    SmallFloat value{};
    value.bits = bits;
    return value;
  }

#define SIMT_BINARY(symbol, function)                                                                     \
  friend constexpr SmallFloat operator symbol(SmallFloat a, SmallFloat b) {                               \
    return float(a) symbol float(b);                                                                      \
  }                                                                                                       \
  friend constexpr SmallFloat& operator symbol##=(SmallFloat& a, SmallFloat b) { return a = a symbol b; } \
  friend constexpr SmallFloat function(SmallFloat a, SmallFloat b) { return a symbol b; }
  SIMT_BINARY(+, __hadd)
  SIMT_BINARY(-, __hsub)
  SIMT_BINARY(*, __hmul)
  SIMT_BINARY(/, __hdiv)
#undef SIMT_BINARY
#define SIMT_COMPARISON(symbol, function)                                                                \
  friend constexpr bool operator symbol(SmallFloat a, SmallFloat b) { return float(a) symbol float(b); } \
  friend constexpr bool function(SmallFloat a, SmallFloat b) { return a symbol b; }
  SIMT_COMPARISON(==, __heq)
  SIMT_COMPARISON(!=, __hne)
  SIMT_COMPARISON(<, __hlt)
  SIMT_COMPARISON(<=, __hle)
  SIMT_COMPARISON(>, __hgt)
  SIMT_COMPARISON(>=, __hge)
#undef SIMT_COMPARISON
  friend constexpr SmallFloat operator-(SmallFloat a) { return from_bits(a.bits ^ 0x8000); }
  friend constexpr SmallFloat __hneg(SmallFloat a) { return -a; }
  friend constexpr SmallFloat __habs(SmallFloat a) { return from_bits(a.bits & 0x7fff); }
  friend SmallFloat __hfma(SmallFloat a, SmallFloat b, SmallFloat c) { return fmaf(a, b, c); }
  friend SmallFloat __hmax(SmallFloat a, SmallFloat b) { return fmaxf(a, b); }
  friend SmallFloat __hmin(SmallFloat a, SmallFloat b) { return fminf(a, b); }
  friend bool __hisnan(SmallFloat a) { return float(a) != float(a); }
  friend int __hisinf(SmallFloat a) { return std::isinf(float(a)) ? (float(a) > 0 ? 1 : -1) : 0; }
  friend SmallFloat hexp(SmallFloat a) { return expf(a); }
  friend SmallFloat hlog(SmallFloat a) { return logf(a); }
  friend SmallFloat hsin(SmallFloat a) { return sinf(a); }
  friend SmallFloat hcos(SmallFloat a) { return cosf(a); }
  friend SmallFloat hsqrt(SmallFloat a) { return sqrtf(a); }
  friend SmallFloat hrsqrt(SmallFloat a) { return rsqrtf(a); }
  friend SmallFloat hrcp(SmallFloat a) { return 1 / float(a); }
};

template <class T>
struct alignas(4) Pair {
  T x, y;
#define SIMT_PAIRWISE(function, single) \
  friend Pair function(Pair a, Pair b) { return {single(a.x, b.x), single(a.y, b.y)}; }
  SIMT_PAIRWISE(__hadd2, __hadd)
  SIMT_PAIRWISE(__hsub2, __hsub)
  SIMT_PAIRWISE(__hmul2, __hmul)
  SIMT_PAIRWISE(__h2div, __hdiv)
  SIMT_PAIRWISE(__hmax2, __hmax)
  SIMT_PAIRWISE(__hmin2, __hmin)
  SIMT_PAIRWISE(operator+, __hadd)
  SIMT_PAIRWISE(operator-, __hsub)
  SIMT_PAIRWISE(operator*, __hmul)
  SIMT_PAIRWISE(operator/, __hdiv)
#undef SIMT_PAIRWISE
  friend Pair __hfma2(Pair a, Pair b, Pair c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
  friend Pair __hneg2(Pair a) { return {-a.x, -a.y}; }
  friend bool operator==(Pair a, Pair b) { return a.x == b.x && a.y == b.y; }
};

/// Adds two numbers, one after the other, each atomically, as the device does.
template <class Format>
SmallFloat<Format> atomic_add(SmallFloat<Format>* p, SmallFloat<Format> v, const Where& at) {
  check_atomic(p, "atomicAdd", at);
  using T = SmallFloat<Format>;
  return T::from_bits(update(&p->bits, [v](std::uint16_t x) { return (T::from_bits(x) + v).bits; }));
}

inline namespace cuda {
template <class Format>
SmallFloat<Format> atomicAdd(SmallFloat<Format>* p, std::type_identity_t<SmallFloat<Format>> v, SIMT_AT) {
  return atomic_add(p, v, at);
}
template <class Format>
Pair<SmallFloat<Format>> atomicAdd(Pair<SmallFloat<Format>>* p,
                                   std::type_identity_t<Pair<SmallFloat<Format>>> v, SIMT_AT) {
  const auto x = atomic_add(&p->x, v.x, at);
  return {x, atomic_add(&p->y, v.y, at)};
}
}  // namespace cuda

}  // namespace simt
