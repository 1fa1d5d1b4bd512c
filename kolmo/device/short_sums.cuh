#pragma once
// Kernels of short sums (base/sums.hpp): rows read 16 bytes at once, and pieces of columns.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kolmo/base/pack.hpp"
#include "kolmo/device/sum_tree.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo::cuda {
namespace {

/// Rows of at most short_terms terms, a multiple of W, are read in packs of W.
constexpr int short_terms = 32;
template <int W>
constexpr bool are_short(std::int64_t k) {
  return k <= short_terms && k % W == 0;
}
/// From how many arrays a term is computed.
template <class Row>
constexpr int arrays_of = 1;
template <class Row>
requires requires { Row::arrays; }
constexpr int arrays_of<Row> = Row::arrays;
/// Number of threads that compute the N sums of a row of at most Terms terms. There are at least two, so that
/// the reads of a warp cover whole sectors of 32 bytes. Each holds at most four packs, or two of each array
/// if there are several; for N > 2 at most eight terms.
template <int W, int Terms, int N, class Row>
constexpr int short_threads = [] {
  constexpr int each = N > 2 ? 8 : (arrays_of<Row> == 1 ? 4 : 2) * W;
  return std::max(std::min(2, Terms / W), Terms / each);
}();

template <class Row>
constexpr bool has_plain_terms = requires(int (*at)(int)) {
  Row::template are_plain<1>(at);
};
/// Calls take(f), where f computes a term from what was read for it. f is row.of_plain if all N terms are
/// plain, and row.of otherwise. Plain terms need no branches, so that the reads they make are in flight at
/// once.
template <int N, class Row, class At, class Take>
__device__ void with_terms(const Row& row, const At& at, const Take& take) {
  if constexpr (has_plain_terms<Row>)
    if (Row::template are_plain<N>(at)) return take([&](const auto& x) { return row.of_plain(x); });
  take([&](const auto& x) { return row.of(x); });
}

/// Sums the k <= Terms terms of a row by short_threads<W, Terms, N, Row> threads and returns the sum to the
/// first of them. All threads of a warp must call it; those without a row pass k = 0.
template <int W, int Terms, int N, class Row>
__device__ Sums<N> short_sum(const Row& row, int k, int thread) {
  constexpr int threads = short_threads<W, Terms, N, Row>, each = Terms / W / threads;
  const auto at = [&](int p) { return (p * threads + thread) * W; };
  Sums<N> lane[each][W] = {};
  if constexpr (requires { row.template fetch_pack<W>(0); }) {
    decltype(row.template fetch_pack<W>(0)) next[each] = {};  // the terms of zeros are 0
#pragma unroll
    for (int p = 0; p < each; ++p)
      if (at(p) < k) next[p] = row.template fetch_pack<W>(at(p));
    const auto take = [&](auto term_of) {
#pragma unroll
      for (int p = 0; p < each; ++p)
#pragma unroll
        for (int w = 0; w < W; ++w) lane[p][w] = term_of(next[p][w]);
    };
    with_terms<each * W>(
        row, [&](int i) { return next[i / W][i % W]; }, take);
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
    if (N == 1 || half * threads * W < k) {
#pragma unroll
      for (int p = 0; p < half; ++p)
#pragma unroll
        for (int w = 0; w < W; ++w) lane[p][w] = lane[p][w] + lane[p + half][w];
    }
#pragma unroll
  for (int half = threads / 2; half; half /= 2)
#pragma unroll
    for (int w = 0; w < W; ++w) lane[0][w] = lane[0][w] + shuffle_xor(lane[0][w], half);
#pragma unroll
  for (int half = W / 2; half; half /= 2)
#pragma unroll
    for (int w = 0; w < half; ++w) lane[0][w] = lane[0][w] + lane[0][w + half];
  return lane[0][0] + Sums<N>{};  // lanes begin at 0 in base/sums.hpp, so that -0 alone sums to 0
}

/// Sums rows of at most Terms terms.
template <int W, int Terms, int N, class Rows, class Done>
__global__ void __launch_bounds__(sum_block, N == 1 ? 0 : 4)
    sum_short_rows(EarlyStart early, Rows rows, Done done, std::int64_t count, int k) {
  early.wait();
  constexpr int threads = short_threads<W, Terms, N, decltype(rows(0))>, groups = sum_block / threads;
  const int thread = int(threadIdx.x) % threads, group = int(threadIdx.x) / threads;
  for (std::int64_t first = std::int64_t(blockIdx.x) * groups; first < count;
       first += std::int64_t(gridDim.x) * groups) {
    const bool active = first + group < count;  // groups without a row take part in shuffles
    const std::int64_t r = active ? first + group : first;
    const auto row = rows(r);
    const auto sum = short_sum<W, Terms, N>(row, k, thread);
    // `done` takes long: neighbouring threads call it together.
    if constexpr (requires { row.template fetch_pack<W>(0); }) {
      __shared__ Sums<N> sums[groups];
      if (thread == 0) sums[group] = sum;
      __syncthreads();
      if (const int i = int(threadIdx.x); i < groups && first + i < count) done(first + i, sums[i]);
      __syncthreads();
    } else if (active && thread == 0) {
      done(r, sum);
    }
  }
}

template <int W, int N, class Rows, class Done>
void launch_short_rows(const Rows& rows, const Done& done, std::int64_t count, std::int64_t k,
                       cudaStream_t stream) {
  using Row = decltype(rows(0));
  const auto run = [&]<int Terms> {
    cuda::launch_early(sum_short_rows<W, Terms, N, Rows, Done>,
                       blocks(count, sum_block / short_threads<W, Terms, N, Row>), sum_block, 0, stream, rows,
                       done, count, int(k));
  };
  constexpr int half = short_terms / 2;
  if constexpr (has_plain_terms<Row> &&
                short_threads<W, half, N, Row> < short_threads<W, short_terms, N, Row>)
    if (k <= half) return run.template operator()<half>();
  run.template operator()<short_terms>();
}

/// Adds the terms of values l, l + Half, l + 2 Half, ... below All, in the order of base/sums.hpp.
template <int All, int Half, int N, class Row, class T>
__device__ Sums<N> tree_of_column(const Row& row, const T* value, int l) {
  if constexpr (Half == All)
    return l < row.count ? row.of(value[l]) : Sums<N>{};
  else
    return tree_of_column<All, 2 * Half, N>(row, value, l) +
           tree_of_column<All, 2 * Half, N>(row, value, l + Half);
}

/// Adds the terms of a piece of a column, of which there are at most All.
template <int All, int N, class Row>
__device__ Sums<N> sum_of_column(const Row& row) {
  std::remove_cvref_t<decltype(*row.x)> value[All];
#pragma unroll
  for (int i = 0; i < All; ++i)
    if (i < row.count) value[i] = row.x[i * row.step];
  return tree_of_column<All, 1, N>(row, value, 0);
}

/// Sums pieces of columns, each by one thread, so that a warp reads neighbouring columns.
template <int N, class Rows, class Done, class T>
__global__ void __launch_bounds__(sum_block, sizeof(T) <= 4 ? 3 : 2)
    sum_columns_of(EarlyStart early, Rows rows, Done done, std::int64_t items) {
  early.wait();
  for (std::int64_t item = thread_index(); item < items; item += thread_count())
    done(item, sum_of_column<Rows::rows_at_a_time, N>(rows(item)));
}
template <int N, class Rows, class Done>
void launch_column_sums(const Rows& rows, const Done& done, std::int64_t items, cudaStream_t stream) {
  using T = std::remove_cvref_t<decltype(*rows.x)>;
  cuda::launch_early(sum_columns_of<N, Rows, Done, T>, blocks(items, sum_block), sum_block, 0, stream, rows,
                     done, items);
}

}  // namespace
}  // namespace kolmo::cuda
