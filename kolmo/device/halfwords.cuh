#pragma once
// Compares two 16-bit numbers that share a 32-bit word, both at once.
#include <cstdint>

namespace kolmo::cuda {
namespace {

__device__ inline std::uint32_t both_halves(std::uint32_t v) { return (v & 0xffff) * 0x10001; }

/// Tests each half of v: the result's half is 0 if v + shift, modulo 2^16, is at most `last`, and another
/// number if not.
__device__ inline std::uint32_t beyond(std::uint32_t v, std::uint32_t shift, std::uint32_t last) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  return __viaddmax_u16x2(v, shift, last) ^ last;
#else
  const auto of = [&](int bits) {
    const std::uint32_t sum = ((v >> bits) + (shift >> bits)) & 0xffff, most = last >> bits & 0xffff;
    return std::uint32_t(sum > most) << bits;
  };
  return of(0) | of(16);
#endif
}

/// Returns 1 in each half in which v is not 0.
__device__ inline std::uint32_t ones(std::uint32_t v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  return __vminu2(v, 0x10001);
#else
  return std::uint32_t((v & 0xffff) != 0) | std::uint32_t(v > 0xffff) << 16;
#endif
}

__device__ inline int sum_of_halves(std::uint32_t v) { return int((v & 0xffff) + (v >> 16)); }

}  // namespace
}  // namespace kolmo::cuda
