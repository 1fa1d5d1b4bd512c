#pragma once
// Products of small tiles on tensor cores: of 16x16 by WMMA, with 16-bit factors and sums in float, and of
// 16x8x8 in double. Anonymous namespace: see device/grid.cuh.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cmath>
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

/// c += a b with a of 8x4, b of 4x8 elements. A thread holds a(thread / 4, thread % 4), b(thread % 4, thread /
/// 4) and c(thread / 4, 2 (thread % 4) + i).
__device__ inline void multiply_8x8x4(double& c0, double& c1, double a, double b) {
#ifdef __CUDA_ARCH__
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c0), "+d"(c1)
      : "d"(a), "d"(b));
#else
  const int lane = int(threadIdx.x) % 32;
  for (int k = 0; k < 4; ++k) {
    const double left = __shfl_sync(~0u, a, lane / 4 * 4 + k);
    c0 = std::fma(left, __shfl_sync(~0u, b, lane % 4 * 8 + k), c0);
    c1 = std::fma(left, __shfl_sync(~0u, b, lane % 4 * 8 + 4 + k), c1);
  }
#endif
}

/// c += a b with a of 16x16, b of 16x8 elements. A thread holds a(thread / 4 + 8 (i % 2), thread % 4 + 4 (i /
/// 2)), b(thread % 4 + 4 i, thread / 4) and c(thread / 4 + 8 (i / 2), 2 (thread % 4) + i % 2).
__device__ inline void multiply_16x8x16(double (&c)[4], const double (&a)[8], const double (&b)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, "
      "%11}, "
      "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[0]),
        "d"(b[1]), "d"(b[2]), "d"(b[3]));
#else
#pragma unroll
  for (int k = 0; k < 4; ++k)
#pragma unroll
    for (int half = 0; half < 2; ++half) multiply_8x8x4(c[2 * half], c[2 * half + 1], a[half + 2 * k], b[k]);
#endif
}

}  // namespace
}  // namespace kolmo::cuda
