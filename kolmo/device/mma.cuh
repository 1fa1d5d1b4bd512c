#pragma once
// Products of small tiles on tensor cores: 16x16x16 (WMMA) and 16x8x16 with 16-bit factors and sums in float,
// and 16x8x4 in double. All lanes of a warp take part.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>
#include <type_traits>

#include "kolmo/base/half.hpp"

namespace kolmo::cuda {
namespace {

namespace wmma = nvcuda::wmma;

/// The CUDA type with the layout of Half or BFloat16.
template <class T>
using NativeHalf = std::conditional_t<std::is_same_v<T, Half>, __half, __nv_bfloat16>;

template <bool Transposed>
using FragmentOrder = std::conditional_t<Transposed, wmma::col_major, wmma::row_major>;
template <class T, bool Transposed>
using LeftFragment = wmma::fragment<wmma::matrix_a, 16, 16, 16, NativeHalf<T>, FragmentOrder<Transposed>>;
template <class T, bool Transposed>
using RightFragment = wmma::fragment<wmma::matrix_b, 16, 16, 16, NativeHalf<T>, FragmentOrder<Transposed>>;
using SumFragment = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

/// Computes c += a b with a of 16x4 and b of 4x8 elements. A thread holds a[i], the element at
/// (thread / 4 + 8 i, thread % 4); b, that at (thread % 4, thread / 4); and c[i], that at
/// (thread / 4 + 8 (i / 2), 2 (thread % 4) + i % 2).
__device__ inline void multiply_16x8x4(double (&c)[4], const double (&a)[2], double b) {
#ifdef SIMT
  simt::mma_m16n8k4(c, a, b);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(b));
#elif defined(__CUDA_ARCH__)
  for (int i = 0; i < 2; ++i)
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[2 * i]), "+d"(c[2 * i + 1])
        : "d"(a[i]), "d"(b));
#endif
}

/// Computes c += a b with a of 16x16 and b of 16x8 elements of T; c is distributed as above. A word holds two
/// elements that are neighbours along the summed index. The first element of a[i] is at
/// (thread / 4 + 8 (i % 2), 2 (thread % 4) + 8 (i / 2)), that of b[i] at (2 (thread % 4) + 8 i, thread / 4).
template <class T>
__device__ void multiply_16x8x16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
#ifdef SIMT
  simt::mma_m16n8k16<T>(c, a, b);
#elif defined(__CUDA_ARCH__)
#define KOLMO_MMA(type)                                                      \
  asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                 \
      ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                       \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  if constexpr (std::is_same_v<T, Half>)
    KOLMO_MMA("f16");
  else
    KOLMO_MMA("bf16");
#undef KOLMO_MMA
#endif
}

}  // namespace
}  // namespace kolmo::cuda
