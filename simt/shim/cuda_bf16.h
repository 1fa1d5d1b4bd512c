#pragma once
// bfloat16: the upper half of a float, rounded to nearest even.

#include "simt/simt.hpp"
#include "simt/small_float.hpp"

namespace simt {

struct Bfloat16 {
  static constexpr std::uint16_t encode(float f) {
    const auto u = std::bit_cast<std::uint32_t>(f);
    return f != f ? 0x7fff : static_cast<std::uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
  }
  static constexpr float decode(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

inline namespace cuda {

using __nv_bfloat16 = SmallFloat<Bfloat16>;
using __nv_bfloat162 = Pair<__nv_bfloat16>;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

constexpr __nv_bfloat16 __float2bfloat16(float f) { return f; }
constexpr __nv_bfloat16 __float2bfloat16_rn(float f) { return f; }
constexpr __nv_bfloat16 __double2bfloat16(double d) { return d; }
constexpr float __bfloat162float(__nv_bfloat16 b) { return b; }
constexpr unsigned short __bfloat16_as_ushort(__nv_bfloat16 b) { return b.bits; }
constexpr __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16::from_bits(bits); }

constexpr __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
constexpr __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
constexpr __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
constexpr __nv_bfloat162 __float2bfloat162_rn(float a) { return {a, a}; }
constexpr __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {a, b}; }
constexpr __nv_bfloat162 __float22bfloat162_rn(float2 f) { return {f.x, f.y}; }
constexpr float2 __bfloat1622float2(__nv_bfloat162 b) { return {b.x, b.y}; }
constexpr __nv_bfloat16 __low2bfloat16(__nv_bfloat162 b) { return b.x; }
constexpr __nv_bfloat16 __high2bfloat16(__nv_bfloat162 b) { return b.y; }

}  // namespace cuda
}  // namespace simt
