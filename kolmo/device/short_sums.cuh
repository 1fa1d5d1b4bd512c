#pragma once
// Kernels of short sums (base/sums.hpp): rows read 16 bytes at once, and pieces of columns. Anonymous namespace: see device/grid.cuh.
#include <cstdint>
#include <type_traits>

#include "kolmo/base/pack.hpp"
#include "kolmo/device/sum_tree.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo::cuda {
namespace {

/// Kernel for rows of at most short_terms terms, a multiple of W, read in packs of W. A thread reads at most
/// four packs. At least two threads share a row where possible, so that a warp reads whole sectors.
constexpr int short_terms = 32;
template <int W>
constexpr int short_threads = short_terms / W >= 16 ? short_terms / W / 4
                              : short_terms / W < 2 ? 1
                                                    : 2;
template <int W, int N, class Rows, class Done>
__global__ void __launch_bounds__(sum_block)
    sum_short_rows(EarlyStart early, Rows rows, Done done, std::int64_t count, int k) {
  early.wait();
  constexpr int threads = short_threads<W>, each = short_terms / W / threads, groups = sum_block / threads;
  const int thread = int(threadIdx.x) % threads, group = int(threadIdx.x) / threads;
  for (std::int64_t first = std::int64_t(blockIdx.x) * groups; first < count;
       first += std::int64_t(gridDim.x) * groups) {
    const bool active = first + group < count;  // idle groups take part in shuffles
    const std::int64_t r = active ? first + group : first;
    const auto row = rows(r);
    constexpr bool long_terms = requires { row.template fetch_pack<W>(0); };
    const auto at = [&](int p) { return (p * threads + thread) * W; };
    Sums<N> lane[each][W] = {};
    if constexpr (long_terms) {
      decltype(row.template fetch_pack<W>(0)) next[each] = {};
#pragma unroll
      for (int p = 0; p < each; ++p)
        if (at(p) < k) next[p] = row.template fetch_pack<W>(at(p));
#pragma unroll
      for (int p = 0; p < each; ++p)
        if (at(p) < k) {
#pragma unroll
          for (int w = 0; w < W; ++w) lane[p][w] = lane[p][w] + row.of(next[p][w]);
        }
    } else {
#pragma unroll
      for (int p = 0; p < each; ++p)
        if (at(p) < k) {
          Sums<N> next[W];
          row.load(at(p), next);
#pragma unroll
          for (int w = 0; w < W; ++w) lane[p][w] = lane[p][w] + next[w];
        }
    }
#pragma unroll
    for (int half = each / 2; half; half /= 2)
#pragma unroll
      for (int p = 0; p < half; ++p)
#pragma unroll
        for (int w = 0; w < W; ++w) lane[p][w] = lane[p][w] + lane[p + half][w];
#pragma unroll
    for (int half = threads / 2; half; half /= 2)
#pragma unroll
      for (int w = 0; w < W; ++w) lane[0][w] = lane[0][w] + shuffle_xor(lane[0][w], half);
#pragma unroll
    for (int half = W / 2; half; half /= 2)
#pragma unroll
      for (int w = 0; w < half; ++w) lane[0][w] = lane[0][w] + lane[0][w + half];
    if constexpr (long_terms) {  // and long ends, by whole warps
      __shared__ Sums<N> sums[groups];
      if (thread == 0) sums[group] = lane[0][0];
      __syncthreads();
      if (const int i = int(threadIdx.x); i < groups && first + i < count) done(first + i, sums[i]);
      __syncthreads();
    } else if (active && thread == 0) {
      done(r, lane[0][0]);
    }
  }
}

template <int W>
constexpr bool are_short(std::int64_t k) {
  return k <= short_terms && k % W == 0;
}
template <int W, int N, class Rows, class Done>
void launch_short_rows(const Rows& rows, const Done& done, std::int64_t count, std::int64_t k,
                       cudaStream_t stream) {
  cuda::launch_early(sum_short_rows<W, N, Rows, Done>, blocks(count, sum_block / short_threads<W>), sum_block,
                     0, stream, rows, done, count, int(k));
}

/// The sum of the terms of values l, l + Half, l + 2 Half, ... of All, in the order of base/sums.hpp.
template <int All, int Half, int N, class Row, class T>
__device__ Sums<N> tree_of_column(const Row& row, const T* value, int l) {
  if constexpr (Half == All)
    return l < row.count ? row.of(value[l]) : Sums<N>{};
  else
    return tree_of_column<All, 2 * Half, N>(row, value, l) +
           tree_of_column<All, 2 * Half, N>(row, value, l + Half);
}

/// A thread for each sum of a piece of a column, so that a warp reads neighbouring columns.
template <int N, class Rows, class Done, class T>
__global__ void __launch_bounds__(sum_block, sizeof(T) <= 4 ? 3 : 2)
    sum_columns_of(EarlyStart early, Rows rows, Done done, std::int64_t items) {
  early.wait();
  for (std::int64_t item = thread_index(); item < items; item += thread_count()) {
    constexpr int all = Rows::rows_at_a_time;
    const auto row = rows(item);
    T value[all];
#pragma unroll
    for (int i = 0; i < all; ++i)
      if (i < row.count) value[i] = row.x[i * row.step];
    done(item, tree_of_column<all, 1, N>(row, value, 0));
  }
}
template <int N, class Rows, class Done>
void launch_column_sums(const Rows& rows, const Done& done, std::int64_t items, cudaStream_t stream) {
  using T = std::remove_cvref_t<decltype(*rows.x)>;
  cuda::launch_early(sum_columns_of<N, Rows, Done, T>, blocks(items, sum_block), sum_block, 0, stream, rows,
                     done, items);
}

}  // namespace
}  // namespace kolmo::cuda
