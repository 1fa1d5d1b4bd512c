#pragma once
// Sums over the rows and columns of large tables (base/table_sums.hpp) in one pass. Anonymous namespace: see device/grid.cuh.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "kolmo/base/table_sums.hpp"
#include "kolmo/device/reduce.cuh"
#include "kolmo/device/small_counts.cuh"

namespace kolmo::cuda {
namespace {

/// A tile is a piece of the columns, so of at most tile_rows rows, of a chunk of the rows.
constexpr int tile_rows = ColumnPieces<double>::rows_at_a_time;

/// The column sums of a tile as counts, from each thread those of its columns, two in a word. Of a tile of other weights all bits are
/// set, and its sums are where StoreColumns puts them.
using PackedColumns = Pack<std::uint32_t, int(sum_chunk) / sum_block / 2>;
constexpr std::uint32_t not_packed = ~0u;
static_assert(tile_rows * small_counts < not_packed >> 16);

template <class T>
struct TableTiles {
  ChunkSums<3, WeightRows<T>, StoreRows> rows;
  ColumnPieces<T> columns;
  StoreColumns column_done;
  bool with_columns;
  PackedColumns* packed;  ///< or null: all sums are where StoreColumns puts them
  std::int64_t counters;  ///< that are set to 0 for the kernel after this
  unsigned* counter;
};

/// Where a tile is: its first row and piece, counted through all tables, and its chunk.
struct TilePlace {
  int rows, columns;
  std::int64_t row, piece, chunk;

  template <class T>
  __device__ TilePlace(const TableTiles<T>& of, std::int64_t tile) {
    const auto& [x, bx, by, pieces] = of.columns;
    piece = quotient(tile, of.rows.chunks), chunk = tile - piece * of.rows.chunks;
    const std::int64_t table = quotient(piece, pieces), first = (piece - table * pieces) * tile_rows;
    row = table * bx + first;
    rows = int(std::min<std::int64_t>(bx - first, tile_rows));
    columns = int(std::min(by - chunk * sum_chunk, +sum_chunk));
  }
};

/// The sums of the lanes of some rows, which the threads of a block have. Each of its warps adds those of a row.
struct LanesOfRows {
  static constexpr int rows = sum_block / 32;
  double log_sum[rows][sum_lanes];
  std::uint32_t total[rows][sum_lanes], bins[rows][sum_lanes];

  __device__ void set(int row, int thread, double logs, const PairSums& sums) {
    log_sum[row][thread] = logs, total[row][thread] = sums.total(), bins[row][thread] = sums.bins();
  }
  /// Returned to the first thread of a warp.
  __device__ Sums<3> sum(int row, int lane) const {
    Sums<1> of_warp[sum_lanes / 32];
    std::uint32_t of_totals = 0, of_bins = 0;
#pragma unroll
    for (int a = 0; a < sum_lanes / 32; ++a) {
      const int at = lane + a * 32;
      of_warp[a] = {{log_sum[row][at]}}, of_totals += total[row][at], of_bins += bins[row][at];
    }
#pragma unroll
    for (int half = 16; half; half /= 2) {
      of_totals += __shfl_xor_sync(~0u, of_totals, half);
      of_bins += __shfl_xor_sync(~0u, of_bins, half);
    }
    return {{of_small_count(of_totals), tree<32>(of_warp).value[0], of_small_count(of_bins)}};
  }
};

/// The sums of a tile by a block, if all its weights are small counts, which it returns. Each is read once.
template <class T>
__device__ bool sum_counts_of_tile(const TableTiles<T>& to, const TilePlace& at, LanesOfRows& lanes,
                                   CountLogs::OfLane logs) {
  using Row = typename WeightRows<T>::Row;
  constexpr int each = int(sum_chunk) / sum_block, ahead = 2, batch = LanesOfRows::rows;
  static_assert(batch % ahead == 0);
  const int thread = int(threadIdx.x), warp = thread / 32;
  const std::int64_t by = to.columns.by, first = at.chunk * sum_chunk + thread;
  const T* const from = to.columns.x + at.row * by + first;
  T next[ahead * each];
  const auto fetch = [&](int r) {
#pragma unroll
    for (int i = 0; i < ahead * each; ++i) {
      const int row = r + i / each, column = i % each * sum_block;
      next[i] = row < at.rows && thread + column < at.columns ? from[row * by + column] : T(0);
    }
  };
  fetch(0);
  PackedColumns of_columns = {};
  bool counts = true;
  for (int r = 0; r < at.rows; r += ahead) {
    T now[ahead * each];
#pragma unroll
    for (int i = 0; i < ahead * each; ++i) now[i] = next[i];
    if (r + ahead < at.rows) fetch(r + ahead);
    counts = __all_sync(~0u, counts && Row::template are_plain<ahead * each>([&](int i) { return now[i]; }));
    if (counts)
#pragma unroll
      for (int a = 0; a < ahead; ++a) {
        double log_sum = 0;
        PairSums sums;
#pragma unroll
        for (int j = 0; j < each; j += 2) {
          const std::uint32_t pair =
              pair_of(Row::small(now[a * each + j]), Row::small(now[a * each + j + 1]));
          sums.add(pair), of_columns.value[j / 2] += pair;
          log_sum = exact_add(exact_add(log_sum, logs.low(pair)), logs.high(pair));
        }
        lanes.set((r + a) % batch, thread, log_sum, sums);
      }
    if (const int end = r + ahead; end % batch == 0 || end >= at.rows) {
      if (__syncthreads_or(!counts)) return false;
      const int row = r / batch * batch + warp;
      if (row < at.rows) {
        const auto sum = lanes.sum(warp, thread % 32);
        if (thread % 32 == 0) to.rows.finish((at.row + row) * to.rows.chunks + at.chunk, sum);
      }
      __syncthreads();
    }
  }
  if (to.packed) {
    store_pack(to.packed[blockIdx.x * std::size_t(sum_block) + thread].value, of_columns);
  } else if (to.with_columns) {
    const std::int64_t item = at.piece * by + first;
#pragma unroll
    for (int j = 0; j < each; ++j)
      if (thread + j * sum_block < at.columns)
        to.column_done(item + j * sum_block,
                       {{of_small_count(of_columns.value[j / 2] >> j % 2 * 16 & 0xffff)}});
  }
  return true;
}

/// The sums of a tile of any weights by a block.
template <class T>
__device__ void sum_weights_of_tile(const TableTiles<T>& to, const TilePlace& at) {
  const int thread = int(threadIdx.x);
  for (int row = 0; row < at.rows; ++row) {
    const std::int64_t item = (at.row + row) * to.rows.chunks + at.chunk;
    const auto sum = group_sum<sum_block, 1, 3>(to.rows.terms(item), true, thread);
    if (thread == 0) to.rows.finish(item, sum);
  }
  if (to.packed) {
    PackedColumns none;
    for (std::uint32_t& word : none.value) word = not_packed;
    store_pack(to.packed[blockIdx.x * std::size_t(sum_block) + thread].value, none);
  }
  if (to.with_columns)
    for (int column = thread; column < at.columns; column += sum_block) {
      const std::int64_t item = at.piece * to.columns.by + at.chunk * sum_chunk + column;
      to.column_done(item, sum_of_column<tile_rows, 1>(to.columns(item)));
    }
}

template <class T>
__global__ void __launch_bounds__(sum_block, 2) sum_tiles(EarlyStart early, TableTiles<T> to) {
  __shared__ LanesOfRows lanes;
  __shared__ CountLogs logs;
  logs.fill();
  __syncthreads();
  early.wait();
  if (blockIdx.x < to.counters && threadIdx.x == 0) to.counter[blockIdx.x] = 0;
  const TilePlace at(to, blockIdx.x);
  if (!sum_counts_of_tile(to, at, lanes, logs.of_lane(int(threadIdx.x)))) sum_weights_of_tile(to, at);
}

/// Whether an H200 holds all blocks at once, of kernels that fill a multiprocessor with two: blocks that start early are as
/// evenly spread then.
constexpr bool all_at_once(unsigned blocks) { return blocks <= 2 * 132; }

/// Whether tables are summed in tiles.
inline bool are_of_tiles(const TableShape& shape) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();  // blocks of a grid
  const auto [tables, bx, by] = shape;
  const std::int64_t tiles = tables * TableScratch::pieces_of(bx) * sum_chunks(by);
  return by >= sum_chunk / 2 && bx >= tile_rows / 2 && tiles >= 64 && tiles <= most;
}
template <bool WithColumns, class T>
void launch_tiles(const T* weight, const TableShape& shape, const TableScratch& scratch, cudaStream_t stream,
                  PackedColumns* packed = nullptr, std::int64_t counters = 0, unsigned* counter = nullptr) {
  const auto [tables, bx, by] = shape;
  const std::int64_t chunks = sum_chunks(by), pieces = scratch.pieces_of(bx);
  const TableTiles<T> to{{{weight, by}, {scratch.rows}, by, chunks, scratch.row_parts},
                         {weight, bx, by, pieces},
                         store_columns(scratch, pieces, 0),
                         WithColumns,
                         packed,
                         counters,
                         counter};
  const unsigned tiles = unsigned(tables * pieces * chunks);
  cuda::launch_early_if(all_at_once(tiles), sum_tiles<T>, tiles, sum_block, 0, stream, to);
}

}  // namespace
}  // namespace kolmo::cuda
