#pragma once
// Products of tiles on tensor cores whose operands and sums are in registers of known layout (mma.sync
// m16n8k16): 16-bit factors, sums in float. Lane l holds, with r = l / 4 and c = 2 (l % 4), pairs of neighbours:
//   left 16x16    (r, c), (r + 8, c), (r, c + 8), (r + 8, c + 8)
//   right 16x8    rows c, c + 1 of column r; rows c + 8, c + 9
//   sum 16x8      (r, c), (r, c + 1), (r + 8, c), (r + 8, c + 1)
// so the sums of two neighbouring tiles, narrowed, are a left operand. GPUs before compute capability 8.0 and the
// emulated one compute the same from shuffled operands. Anonymous namespace: see device/grid.cuh.
#include <bit>
#include <cstdint>
#include <type_traits>

#include "kolmo/base/half.hpp"
#include "kolmo/base/pack.hpp"

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

/// The lower halves of two pairs, and the upper ones.
__device__ inline std::uint32_t low_halves(std::uint32_t a, std::uint32_t b) {
  return __byte_perm(a, b, 0x5410);
}
__device__ inline std::uint32_t high_halves(std::uint32_t a, std::uint32_t b) {
  return __byte_perm(a, b, 0x7632);
}

// Tiles in shared memory: rows start `stride` elements apart, at multiples of 16 bytes.

/// A left operand from a row-major 16x16 tile.
template <class T>
__device__ void load_left(std::uint32_t (&to)[4], const T* tile, int stride, int lane) {
#ifdef __CUDA_ARCH__
  load_four<false>(to, tile + lane % 16 * stride + lane / 16 * 8);
#else
  for (int i = 0; i < 4; ++i)
    to[i] = pair_at(tile + (lane / 4 + i % 2 * 8) * stride + lane % 4 * 2 + i / 2 * 8, 1);
#endif
}

/// Two neighbouring right operands, to[0..1] and to[2..3], from a 16x16 tile that has a column of them in each of its
/// rows.
template <class T>
__device__ void load_right_columns(std::uint32_t (&to)[4], const T* tile, int stride, int lane) {
#ifdef __CUDA_ARCH__
  load_four<false>(to, tile + (lane / 16 * 8 + lane % 8) * stride + lane / 8 % 2 * 8);
#else
  for (int i = 0; i < 4; ++i)
    to[i] = pair_at(tile + (lane / 4 + i / 2 * 8) * stride + lane % 4 * 2 + i % 2 * 8, 1);
#endif
}

/// The same from a row-major 16x16 tile.
template <class T>
__device__ void load_right_rows(std::uint32_t (&to)[4], const T* tile, int stride, int lane) {
#ifdef __CUDA_ARCH__
  load_four<true>(to, tile + lane % 16 * stride + lane / 16 * 8);
#else
  for (int i = 0; i < 4; ++i)
    to[i] = pair_at(tile + (lane % 4 * 2 + i % 2 * 8) * stride + lane / 4 + i / 2 * 8, stride);
#endif
}

/// sum += left right. All lanes of a warp take part.
template <class T>
__device__ void multiply_add(float (&sum)[4], const std::uint32_t (&left)[4], std::uint32_t right0,
                             std::uint32_t right1) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, Half>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
#else
  const auto words = [](std::uint32_t low, std::uint32_t high) {
    return static_cast<unsigned long long>(high) << 32 | low;
  };
  const int lane = int(threadIdx.x) % 32;
#pragma unroll 1
  for (int k = 0; k < 4; ++k) {  // the lanes that hold rows 2k, 2k + 1, 2k + 8, 2k + 9 of a column
    const auto of_row = __shfl_sync(~0u, words(left[0], left[2]), lane / 4 * 4 + k);
    const auto of_next = __shfl_sync(~0u, words(left[1], left[3]), lane / 4 * 4 + k);
    const auto a = std::bit_cast<Pack<T, 4>>(of_row), b = std::bit_cast<Pack<T, 4>>(of_next);
#pragma unroll
    for (int column = 0; column < 2; ++column) {
      const auto of_column = __shfl_sync(~0u, words(right0, right1), (lane % 4 * 2 + column) * 4 + k);
      const auto c = std::bit_cast<Pack<T, 4>>(of_column);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sum[column] += float(a.value[i]) * float(c.value[i]);
        sum[2 + column] += float(b.value[i]) * float(c.value[i]);
      }
    }
  }
#endif
}

}  // namespace
}  // namespace kolmo::cuda
