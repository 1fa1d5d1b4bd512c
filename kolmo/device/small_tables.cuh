#pragma once
// Sums over small tables (base/table_sums.hpp), several by a warp at a time. Anonymous namespace: see device/grid.cuh.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "kolmo/base/entropy.hpp"
#include "kolmo/base/table_sums.hpp"
#include "kolmo/device/short_sums.cuh"

namespace kolmo::cuda {
namespace {

/// The widest table whose columns are of one piece and whose rows are short.
constexpr int small_rows = 32, small_columns = 32;
static_assert(small_rows <= ColumnPieces<double>::rows_at_a_time && small_columns == short_terms);
constexpr int table_warps = sum_block / 32;
/// Blocks of a multiprocessor.
constexpr int table_blocks = 4;

/// A warp sums 2^each_bits tables at a time, which have at most `rows` rows and as many columns. After `rounds` such steps it
/// finishes all of them, at most `most`.
template <int Terms>
struct TableSteps {
  static constexpr int rows = 32 * short_terms / Terms, most = 32;
  int bx, by, each_bits, rounds;
  KOLMO_HD int share() const { return rounds << each_bits; }
};

/// What a warp knows of its tables. A word has the counts of two columns of a row.
template <bool WithColumns, int Terms>
struct TablesOfWarp {
  static constexpr int size = TableSteps<Terms>::rows, words = WithColumns ? Terms / 2 : 0;
  Sums<3> rows[size];
  Sums<1> columns[WithColumns ? size : 1];
  Sums<5> totals[TableSteps<Terms>::most];
  alignas(16) std::uint32_t pairs[WithColumns ? size * words : 1];
};

/// The sums of the columns of some tables by a warp. Four threads, eight lanes apart, add every fourth row of a column each.
template <class T>
__device__ void sum_small_columns(const T* weight, int tables, int bx, int by, int lane, Sums<1>* to) {
  const int part = lane / 8, count = tables * by;
  for (int first = 0; first < count; first += 8) {
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

/// The sums of the rows and columns of `here` tables by a warp.
template <bool WithColumns, int Terms, class T>
[[gnu::noinline]] __device__ void sum_weights(const T* weight, int here, TableSteps<Terms> steps, int lane,
                                              TablesOfWarp<WithColumns, Terms>& to) {
  using Row = typename WeightRows<T>::Row;
  constexpr int threads = short_threads<pack_width<T>, Terms, 3, Row>;
  const int thread = lane % threads, group = lane / threads, count = here * steps.bx;
  for (int first = 0; first < count; first += 32 / threads) {
    const int row = first + group, k = row < count ? steps.by : 0;
    const Row terms{weight + (k ? row * steps.by : 0)};
    const ShortPacks<pack_width<T>, Terms, 3, Row> packs(terms, k, thread);
    const auto sum = sum_of_packs(terms, packs, steps.by);
    if (k && thread == 0) to.rows[row] = sum;
  }
  if constexpr (WithColumns) sum_small_columns(weight, here, steps.bx, steps.by, lane, to.columns);
}

/// Does the same if all weights are small counts, and returns whether they are. Each is read once.
template <bool WithColumns, int Terms, class T, class Table>
__device__ bool sum_counts(const T* weight, int here, const TableSteps<Terms>& steps, int lane,
                           const Table& log_term, TablesOfWarp<WithColumns, Terms>& to) {
  using Row = typename WeightRows<T>::Row;
  constexpr int W = pack_width<T>, threads = short_threads<W, Terms, 3, Row>, each = Terms / threads;
  static_assert(each == 8);  // the columns of one pack of pairs
  const int thread = lane % threads, group = lane / threads, count = here * steps.bx;
#pragma unroll 1
  for (int first = 0; first < count; first += 32 / threads) {
    const int row = first + group, k = row < count ? steps.by : 0;
    const ShortPacks<W, Terms, 3, Row> packs(Row{weight + (k ? row * steps.by : 0)}, k, thread);
    if (!packs.are_counts()) return false;
    const auto sum = sum_of_counts(packs, steps.by, log_term);
    if (k && thread == 0) to.rows[row] = sum;
    if constexpr (WithColumns) {
      Pack<std::uint32_t, 4> pairs;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        pairs.value[i] = Row::small(packs(2 * i)) + (Row::small(packs(2 * i + 1)) << 16);
      if (k) store_pack(to.pairs + row * to.words + thread * 4, pairs);
    }
  }
  if constexpr (WithColumns) {
    __syncwarp();
    constexpr int words = to.words;
    for (int item = lane; item < here * words; item += 32) {
      const int table = item / words, word = item % words, term = word % 4 * 2,
                column = (term / W * threads + word / 4) * W + term % W;
      const std::uint32_t* const pairs = to.pairs + table * steps.bx * words + word;
      std::uint32_t sum = 0;
#pragma unroll 8
      for (int x = 0; x < steps.bx; ++x) sum += pairs[x * words];
      if (column < steps.by) {
        Sums<1>* const both = to.columns + table * steps.by + column;
        both[0] = {{of_small_count(sum & 0xffff)}}, both[1] = {{of_small_count(sum >> 16)}};
      }
    }
  }
  return true;
}

/// The sums of TableMargins of `here` tables by a warp, which a team of its threads has for each, by the tree of base/sums.hpp.
template <bool WithColumns, int Terms>
__device__ void sum_margins(const Sums<3>* rows, const Sums<1>* columns, int here,
                            const TableSteps<Terms>& steps, int lane, Sums<5>* to) {
  const int team = 32 >> steps.each_bits, thread = lane & (team - 1), table = lane >> (5 - steps.each_bits),
            margins = table < here ? steps.bx + (WithColumns ? steps.by : 0) : 0;
  const TableMargins::Row terms{rows + table * steps.bx, columns + (WithColumns ? table * steps.by : 0),
                                steps.bx};
  constexpr int most = (1 + WithColumns) * steps.rows / 32;
  Sums<2 + WithColumns> term[most] = {};
  std::uint32_t counts = 0;  // of bins, and from bit 16 on of columns: integers
#pragma unroll
  for (int a = 0; a < most; ++a)
    if (const int i = thread + a * team; i < margins) {
      const auto [total, of_rows, bins, of_columns, above] = terms(i).value;
      term[a].value[0] = total, term[a].value[1] = of_rows;
      if constexpr (WithColumns) term[a].value[2] = of_columns;
      counts += small_count(bins) + (small_count(above) << 16);
    }
  auto sum = tree<1>(term);
#pragma unroll
  for (int half = 16; half; half /= 2)
    if (half < team) sum = sum + shuffle_xor(sum, half), counts += __shfl_xor_sync(~0u, counts, half);
  if (thread == 0 && table < here)
    to[table] = {{sum.value[0], sum.value[1], of_small_count(counts & 0xffff),
                  WithColumns ? sum.value[1 + WithColumns] : 0, of_small_count(counts >> 16)}};
}

/// What sum_tables computes, by the same trees.
template <bool WithColumns, int Terms, class T, class Done>
__global__ void __launch_bounds__(sum_block, table_blocks)
    sum_small_tables(EarlyStart early, const T* weight, std::int64_t tables, TableSteps<Terms> steps,
                     Done done) {
  __shared__ TablesOfWarp<WithColumns, Terms> warps[table_warps];
  __shared__ double logs[small_counts];
  if (threadIdx.x < small_counts) logs[threadIdx.x] = count_log_count(threadIdx.x);
  __syncthreads();
  early.wait();
  const int lane = int(threadIdx.x % 32), number = int(threadIdx.x / 32), size = steps.bx * steps.by;
  const auto log_term = [&](std::uint32_t n) { return logs[n]; };
  auto& mine = warps[number];
  const std::int64_t first = (std::int64_t(blockIdx.x) * table_warps + number) * steps.share();
  const int count = int(std::min<std::int64_t>(steps.share(), tables - first));
  const T* from = weight + first * size;
  for (int t = 0; t < count; t += 1 << steps.each_bits, from += size << steps.each_bits) {
    const int here = std::min(1 << steps.each_bits, count - t);
    if (!sum_counts(from, here, steps, lane, log_term, mine)) sum_weights(from, here, steps, lane, mine);
    __syncwarp();
    sum_margins<WithColumns>(mine.rows, mine.columns, here, steps, lane, mine.totals + t);
    __syncwarp();
  }
  if (lane < count) done(first + lane, mine.totals[lane]);
}

/// Does what sum_tables does, if the tables are small and their rows aligned; returns whether it did.
template <bool WithColumns, class T, class Done>
bool sum_if_small(const T* weight, const TableShape& shape, const Done& done, cudaStream_t stream) {
  const auto [tables, bx, by] = shape;
  if (bx > small_rows || by > small_columns || !are_short<pack_width<T>>(by) ||
      !WeightRows<T>{weight, by}.packed(tables * bx))
    return false;
  const auto run = [&]<int Terms> {
    using Steps = TableSteps<Terms>;
    constexpr std::int64_t warps = 132 * table_blocks * table_warps;  // of an H200 at a time
    const std::int64_t most = Steps::rows / std::max<std::int64_t>({bx, by, 2}),
                       each = std::clamp<std::int64_t>(tables / warps, 1,
                                                       most);  // of few tables one, for more warps
    const int each_bits = std::bit_width(std::uint64_t(each)) - 1;
    const std::int64_t all = ((tables - 1) >> each_bits) + 1, rounds = (all - 1) / warps + 1;
    const Steps steps{int(bx), int(by), each_bits,
                      int(std::min<std::int64_t>(rounds, Steps::most >> each_bits))};
    const unsigned grid = unsigned((tables - 1) / (table_warps * steps.share()) + 1);
    cuda::launch_early(sum_small_tables<WithColumns, Terms, T, Done>, grid, sum_block, 0, stream, weight,
                       tables, steps, done);
  };
  if (by <= short_terms / 2)
    run.template operator()<short_terms / 2>();
  else
    run.template operator()<short_terms>();
  return true;
}

}  // namespace
}  // namespace kolmo::cuda
