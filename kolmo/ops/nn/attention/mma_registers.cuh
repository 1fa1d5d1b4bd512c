#pragma once
// Operands of multiply_16x8x16 (device/mma.cuh) from tiles in shared memory. Lane l holds, with r = l / 4 and
// c = 2 (l % 4), pairs of neighbours that begin at
//   left 16x16    (r, c), (r + 8, c), (r, c + 8), (r + 8, c + 8)
//   right 16x8    rows c, c + 1 of column r; rows c + 8, c + 9
//   sum 16x8      (r, c), (r, c + 1), (r + 8, c), (r + 8, c + 1)
// Each lane therefore holds the sums of two neighbouring tiles as it must hold a left operand. Narrowed to T, they are one.
#include <bit>
#include <cstdint>

#include "kolmo/base/pack.hpp"
#include "kolmo/device/mma.cuh"

namespace kolmo::cuda {
namespace {

#ifdef __CUDA_ARCH__
template <bool Turned>
__device__ inline void load_four(std::uint32_t (&to)[4], const void* row) {
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  if constexpr (Turned)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(at)
                 : "memory");
}
#else
template <class T>
__device__ std::uint32_t pair_at(const T* first, int step) {
  return std::bit_cast<std::uint32_t>(Pack<T, 2>{{first[0], first[step]}});
}
#endif

/// Joins the lower halves of two words; high_halves joins the upper ones.
__device__ inline std::uint32_t low_halves(std::uint32_t a, std::uint32_t b) {
  return __byte_perm(a, b, 0x5410);
}
__device__ inline std::uint32_t high_halves(std::uint32_t a, std::uint32_t b) {
  return __byte_perm(a, b, 0x7632);
}

// The following functions read tiles in shared memory, whose rows start `stride` elements apart, at multiples
// of 16 bytes.

/// Loads a left operand from a row-major 16x16 tile.
template <class T>
__device__ void load_left(std::uint32_t (&to)[4], const T* tile, int stride, int lane) {
#ifdef __CUDA_ARCH__
  load_four<false>(to, tile + lane % 16 * stride + lane / 16 * 8);
#else
  for (int i = 0; i < 4; ++i)
    to[i] = pair_at(tile + (lane / 4 + i % 2 * 8) * stride + lane % 4 * 2 + i / 2 * 8, 1);
#endif
}

/// Loads two neighbouring right operands, to[0..1] and to[2..3], from a 16x16 tile whose rows are their
/// columns.
template <class T>
__device__ void load_right_columns(std::uint32_t (&to)[4], const T* tile, int stride, int lane) {
#ifdef __CUDA_ARCH__
  load_four<false>(to, tile + (lane / 16 * 8 + lane % 8) * stride + lane / 8 % 2 * 8);
#else
  for (int i = 0; i < 4; ++i)
    to[i] = pair_at(tile + (lane / 4 + i / 2 * 8) * stride + lane % 4 * 2 + i % 2 * 8, 1);
#endif
}

/// Loads two such operands from a row-major 16x16 tile.
template <class T>
__device__ void load_right_rows(std::uint32_t (&to)[4], const T* tile, int stride, int lane) {
#ifdef __CUDA_ARCH__
  load_four<true>(to, tile + lane % 16 * stride + lane / 16 * 8);
#else
  for (int i = 0; i < 4; ++i)
    to[i] = pair_at(tile + (lane % 4 * 2 + i % 2 * 8) * stride + lane / 4 + i / 2 * 8, stride);
#endif
}

}  // namespace
}  // namespace kolmo::cuda
