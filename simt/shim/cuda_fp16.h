#pragma once
// IEEE binary16.

#include "simt/simt.hpp"
#include "simt/small_float.hpp"

namespace simt {

struct Binary16 {
  static constexpr std::uint16_t encode(float f) {
    return std::bit_cast<std::uint16_t>(static_cast<_Float16>(f));
  }
  static constexpr float decode(std::uint16_t bits) {
    return static_cast<float>(std::bit_cast<_Float16>(bits));
  }
};

inline namespace cuda {

using __half = SmallFloat<Binary16>;
using __half2 = Pair<__half>;
using half = __half;
using half2 = __half2;

constexpr half __float2half(float f) { return f; }
constexpr half __float2half_rn(float f) { return f; }
constexpr half __double2half(double d) { return static_cast<float>(static_cast<_Float16>(d)); }
constexpr float __half2float(half h) { return h; }
constexpr half __int2half_rn(int i) { return i; }
inline int __half2int_rn(half h) { return __float2int_rn(h); }
constexpr unsigned short __half_as_ushort(half h) { return h.bits; }
constexpr half __ushort_as_half(unsigned short bits) { return half::from_bits(bits); }

constexpr half2 make_half2(half a, half b) { return {a, b}; }
constexpr half2 __halves2half2(half a, half b) { return {a, b}; }
constexpr half2 __half2half2(half a) { return {a, a}; }
constexpr half2 __float2half2_rn(float a) { return {a, a}; }
constexpr half2 __floats2half2_rn(float a, float b) { return {a, b}; }
constexpr half2 __float22half2_rn(float2 f) { return {f.x, f.y}; }
constexpr float2 __half22float2(half2 h) { return {h.x, h.y}; }
constexpr half __low2half(half2 h) { return h.x; }
constexpr half __high2half(half2 h) { return h.y; }
constexpr float __low2float(half2 h) { return h.x; }
constexpr float __high2float(half2 h) { return h.y; }

}  // namespace cuda
}  // namespace simt
