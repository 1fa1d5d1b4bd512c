#pragma once
// matmul of few rows by a transposed factor b. A warp computes the sums of one column of y for all rows, so
// that b is read once, along its rows.
#include "kolmo/base/convert.hpp"
#include "kolmo/base/pack.hpp"
#include "kolmo/device/warp.cuh"
#include "kolmo/ops/dense/matmul/gemm.cuh"

namespace kolmo {
namespace {

constexpr int dot_block = 256, most_dot_rows = 4;

/// Adds the products of W neighbouring terms from k on.
template <int W, class T, int Rows>
__device__ void add_products(SumOf<T> (&sum)[Rows], const Gemm<T>& g, const T* a, const T* b, int k) {
  const auto right = widened(load_pack<W>(b + k));
#pragma unroll
  for (int r = 0; r < Rows; ++r) {
    if (r >= g.m) continue;
    const auto left = widened(load_pack<W>(a + std::int64_t(r) * g.k + k));
#pragma unroll
    for (int w = 0; w < W; ++w) sum[r] += left.value[w] * right.value[w];
  }
}

/// Rows: the number of rows that sums are kept for, at least m. packs: rows of a and b consist of whole packs
/// of 16 bytes.
template <class T, int Rows>
__global__ void __launch_bounds__(dot_block) dots(Gemm<T> g, bool packs) {
  constexpr int width = pack_width<T>;
  const int lane = int(threadIdx.x) % 32;
  const std::int64_t columns = g.batch * g.n, warps = cuda::thread_count() / 32;
  for (std::int64_t i = cuda::thread_index() / 32; i < columns; i += warps) {
    const std::int64_t entry = i / g.n;
    const T *a = g.a + entry * g.m * g.k, *b = g.b + i * g.k;
    SumOf<T> sum[Rows] = {};
    if (packs) {
#pragma unroll 4
      for (int k = lane * width; k < g.k; k += 32 * width) add_products<width>(sum, g, a, b, k);
    } else {
#pragma unroll 4
      for (int k = lane; k < g.k; k += 32) add_products<1>(sum, g, a, b, k);
    }
    cuda::warp_sums(sum);
#pragma unroll
    for (int r = 0; r < Rows; ++r)
      if (lane == r && r < g.m)
        g.finish((entry * g.m + r) * g.n + i - entry * g.n, int(i - entry * g.n), sum[r]);
  }
}

}  // namespace
}  // namespace kolmo
