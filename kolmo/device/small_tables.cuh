#pragma once
// Sums over small tables (base/table_sums.hpp), each of which is read once.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "kolmo/base/entropy.hpp"
#include "kolmo/base/table_sums.hpp"
#include "kolmo/device/short_sums.cuh"

namespace kolmo::cuda {
namespace {

/// The largest table that is small. Its columns are of one piece, and a thread of a warp has at most two of its margins.
constexpr int small_rows = 32, small_columns = 32;
static_assert(small_rows <= ColumnPieces<double>::rows_at_a_time && small_columns == short_terms);

/// Sums the columns of some tables. Four threads, eight lanes apart, share a column: each adds every fourth row.
template <class T>
__device__ void sum_small_columns(const T* weight, int tables, int bx, int by, Sums<1>* to) {
  const int lane = int(threadIdx.x) % 32, part = lane / 8, count = tables * by;
  for (int first = int(threadIdx.x) / 32 * 8; first < count; first += sum_block / 4) {
    const int column = first + lane % 8, table = int(unsigned(column) / unsigned(by));
    const bool active = column < count;
    const typename ColumnPieces<T>::Row rows{
        weight + (active ? (table * bx + part) * by + column - table * by : 0), 4 * by,
        active ? (bx + 3 - part) / 4 : 0};
    Sums<1> sum = sum_of_column<small_rows / 4, 1>(rows);
    sum = sum + shuffle_xor(sum, 16), sum = sum + shuffle_xor(sum, 8);
    if (part == 0 && active) to[column] = sum;
  }
}

/// Computes what sum_tables computes, in the same order of additions. A block has `each` tables at a time. Groups of threads
/// sum rows, four threads a column, and `team` threads the margins of a table: 32, or a power of two that is at least the
/// number of margins.
template <bool WithColumns, int Terms, class T, class Done>
__global__ void __launch_bounds__(sum_block, WithColumns ? 3 : 4)
    sum_small_tables(EarlyStart early, const T* weight, std::int64_t tables, int bx, int by, int each,
                     int team, Done done) {
  constexpr int W = pack_width<T>, threads = short_threads<W, Terms, 3, typename WeightRows<T>::Row>,
                groups = sum_block / threads;
  constexpr int N = WithColumns ? 5 : 3;  // without columns the last two sums are 0
  __shared__ Sums<3> rows[groups];
  __shared__ Sums<1> columns[WithColumns ? groups * small_columns / 4 : 1];
  __shared__ Sums<5> totals[groups];
  const int me = int(threadIdx.x), thread = me % threads, group = me / threads;
  early.wait();
  for (std::int64_t first = std::int64_t(blockIdx.x) * each; first < tables;
       first += std::int64_t(gridDim.x) * each) {
    const int here = int(tables - first < each ? tables - first : each);
    const T* const from = weight + first * (bx * by);
    const bool active = group < here * bx;
    const typename WeightRows<T>::Row row{from + (active ? group * by : 0)};
    const auto sum = short_sum<W, Terms, 3>(row, active ? by : 0, thread);
    if (active && thread == 0) rows[group] = sum;
    __syncthreads();
    if constexpr (WithColumns) {
      sum_small_columns(from, here, bx, by, columns);
      __syncthreads();
    }
    const int margins = bx + (WithColumns ? by : 0);
    for (int start = 0; start < here; start += sum_block / team) {
      const int table = start + me / team;
      const bool summed = table < here;
      const TableMargins::Row terms{rows + (summed ? table * bx : 0),
                                    columns + (WithColumns && summed ? table * by : 0), bx};
      Sums<N> lane[2] = {};
#pragma unroll
      for (int a = 0; a < 1 + WithColumns; ++a)
        if (const int i = me % team + 32 * a; summed && i < margins) {
          const Sums<5> term = terms(i);
#pragma unroll
          for (int n = 0; n < N; ++n) lane[a].value[n] = term.value[n];
        }
      Sums<N> total = lane[0] + lane[1];
#pragma unroll
      for (int half = 16; half; half /= 2)
        if (half < team) total = total + shuffle_xor(total, half);
      if (summed && me % team == 0) {
        Sums<5> all{};
#pragma unroll
        for (int n = 0; n < N; ++n) all.value[n] = total.value[n];
        totals[table] = all;
      }
    }
    __syncthreads();
    if (me < here) done(first + me, totals[me]);
  }
}

/// Computes what sum_tables computes if the tables are small and their rows aligned, and returns whether they are.
template <bool WithColumns, class T, class Done>
bool sum_if_small(const T* weight, const TableShape& shape, const Done& done, cudaStream_t stream) {
  const auto [tables, bx, by] = shape;
  if (bx > small_rows || by > small_columns || !are_short<pack_width<T>>(by) ||
      !WeightRows<T>{weight, by}.packed(tables * bx))
    return false;
  const auto run = [&]<int Terms> {
    constexpr int groups = sum_block / short_threads<pack_width<T>, Terms, 3, typename WeightRows<T>::Row>;
    const int each = int(std::min<std::int64_t>(groups / bx, groups * small_columns / 4 / by)),
              margins = int(bx + (WithColumns ? by : 0)),
              team = int(std::bit_ceil(unsigned(std::min(margins, 32))));
    cuda::launch_early(sum_small_tables<WithColumns, Terms, T, Done>, blocks(tables, each), sum_block, 0,
                       stream, weight, tables, int(bx), int(by), each, team, done);
  };
  if (by <= short_terms / 2)
    run.template operator()<short_terms / 2>();
  else
    run.template operator()<short_terms>();
  return true;
}

}  // namespace
}  // namespace kolmo::cuda
