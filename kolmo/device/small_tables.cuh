#pragma once
// Sums over small tables (base/entropy.hpp), each read once. Anonymous namespace: see device/grid.cuh.
#include <algorithm>
#include <cstdint>

#include "kolmo/base/entropy.hpp"
#include "kolmo/device/short_sums.cuh"
#include "kolmo/op/impl.hpp"

namespace kolmo::cuda {
namespace {

/// The widest table whose margins a warp sums: columns of one piece, and two margins for each thread.
constexpr int small_rows = 32, small_columns = 32;
static_assert(small_rows <= ColumnPieces<double>::rows_at_a_time && small_columns == short_terms);

/// The sums of `count` columns. Four threads, eight lanes apart, add every fourth row of a column each.
template <class Pieces>
__device__ void sum_small_columns(const Pieces& pieces, int count, Sums<1>* to) {
  const int lane = int(threadIdx.x) % 32, part = lane / 8;
  for (int first = int(threadIdx.x) / 32 * 8; first < count; first += sum_block / 4) {
    const int column = first + lane % 8;
    auto rows = pieces(column < count ? column : first);
    rows.x += part * rows.step, rows.step *= 4, rows.count = (rows.count + 3 - part) / 4;
    Sums<1> sum = sum_of_column<small_rows / 4, 1>(rows);
    sum = sum + shuffle_xor(sum, 16), sum = sum + shuffle_xor(sum, 8);
    if (part == 0 && column < count) to[column] = sum;
  }
}

/// A block has `each` tables at a time: groups of threads sum their rows, threads their columns, warps their margins.
/// What sum_tables computes, by the same trees.
template <bool WithColumns, int Terms, class T, class Done>
__global__ void __launch_bounds__(sum_block, 3)
    sum_small_tables(EarlyStart early, const T* weight, std::int64_t tables, int bx, int by, int each,
                     Done done) {
  constexpr int W = pack_width<T>, threads = short_threads<W, Terms, 3>, groups = sum_block / threads;
  constexpr int margins = small_rows + (WithColumns ? small_columns : 0);
  __shared__ Sums<3> rows[groups];
  __shared__ Sums<1> columns[WithColumns ? groups * small_columns / 4 : 1];
  __shared__ Sums<5> totals[groups];
  const int me = int(threadIdx.x), thread = me % threads, group = me / threads;
  early.wait();
  for (std::int64_t first = std::int64_t(blockIdx.x) * each; first < tables;
       first += std::int64_t(gridDim.x) * each) {
    const int here = int(tables - first < each ? tables - first : each);
    const WeightRows<T> weights{weight + first * bx * by, by};
    const bool active = group < here * bx;
    const auto sum = short_sum<W, Terms, 3>(weights(active ? group : 0), active ? by : 0, thread);
    if (active && thread == 0) rows[group] = sum;
    __syncthreads();
    if constexpr (WithColumns)
      sum_small_columns(ColumnPieces<T>{weights.weight, bx, by, 1}, here * by, columns);
    __syncthreads();
    const TableMargins all{rows, columns, bx, WithColumns ? by : 0};
    for (int table = me / 32; table < here; table += sum_block / 32) {
      const auto terms = all(table);
      Sums<5> lane[margins / 32] = {};
#pragma unroll
      for (int a = 0; a < margins / 32; ++a)
        if (const int i = me % 32 + 32 * a; i < bx + all.by) lane[a] = terms(i);
      const auto total = tree<32>(lane);
      if (me % 32 == 0) totals[table] = total;
    }
    __syncthreads();
    if (me < here) done(first + me, totals[me]);
  }
}

/// Does what sum_tables does, if the tables are small and their rows aligned; returns whether it did.
template <bool WithColumns, class T, class Done>
bool sum_if_small(const T* weight, const TableShape& shape, const Done& done, cudaStream_t stream) {
  const auto [tables, bx, by] = shape;
  if (bx > small_rows || by > small_columns || !are_short<pack_width<T>>(by) ||
      !WeightRows<T>{weight, by}.packed(tables * bx))
    return false;
  const auto run = [&]<int Terms> {
    constexpr int groups = sum_block / short_threads<pack_width<T>, Terms, 3>;
    const int each = int(std::min<std::int64_t>(groups / bx, groups * small_columns / 4 / by));
    cuda::launch_early(sum_small_tables<WithColumns, Terms, T, Done>, blocks(tables, each), sum_block, 0,
                       stream, weight, tables, int(bx), int(by), each, done);
  };
  if (by <= short_terms / 2)
    run.template operator()<short_terms / 2>();
  else
    run.template operator()<short_terms>();
  return true;
}

}  // namespace
}  // namespace kolmo::cuda
