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

template <class T>
struct TableTiles {
  ChunkSums<3, WeightRows<T>, StoreRows> rows;
  ColumnPieces<T> columns;
  StoreColumns column_done;
  bool with_columns;
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
  std::uint32_t of_columns[each / 2] = {};
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
          sums.add(pair), of_columns[j / 2] += pair;
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
  if (to.with_columns) {
    const std::int64_t item = at.piece * by + first;
#pragma unroll
    for (int j = 0; j < each; ++j)
      if (thread + j * sum_block < at.columns)
        to.column_done(item + j * sum_block, {{of_small_count(of_columns[j / 2] >> j % 2 * 16 & 0xffff)}});
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
  const TilePlace at(to, blockIdx.x);
  if (!sum_counts_of_tile(to, at, lanes, logs.of_lane(int(threadIdx.x)))) sum_weights_of_tile(to, at);
}

/// What is left to add after the sums of tiles, of at most 8 chunks of a row and 32 groups of 32 pieces of a column. The first
/// blocks have a thread for each row; a warp of the others adds every eighth group of 32 columns.
struct TileRest {
  static constexpr int most_chunks = 8, groups = tile_rows, across = 32;
  PartialSums<3, StoreRows> rows;
  std::int64_t row_count;
  unsigned blocks_of_rows;
  ColumnPieces<Sums<1>> columns;  ///< sums of pieces
  StoreColumns column_done;

  static bool fits(std::int64_t chunks, std::int64_t pieces) {
    return pieces > 1 && chunks <= most_chunks && pieces <= groups * tile_rows;
  }
  unsigned blocks_of_columns(std::int64_t tables) const {
    return cuda::blocks(columns.by, across) * unsigned(tables);
  }
};
__global__ void __launch_bounds__(sum_block) finish_tiles(EarlyStart early, TileRest of) {
  __shared__ double part[TileRest::groups][TileRest::across];
  early.wait();
  if (blockIdx.x < of.blocks_of_rows) {
    const std::int64_t row = std::int64_t(blockIdx.x) * sum_block + threadIdx.x;
    const auto sum = group_sum<1, TileRest::most_chunks, 3>(of.rows.terms(row < of.row_count ? row : 0),
                                                            row < of.row_count, 0);
    if (row < of.row_count) of.rows.finish(row, sum);
    return;
  }
  const auto& [x, pieces, by, groups] = of.columns;
  const int lane = int(threadIdx.x) % TileRest::across, warp = int(threadIdx.x) / TileRest::across;
  const unsigned strips = unsigned(by + TileRest::across - 1) / TileRest::across,
                 block = blockIdx.x - of.blocks_of_rows, table = block / strips;
  const std::int64_t column = std::int64_t(block - table * strips) * TileRest::across + lane;
  for (int group = warp; group < TileRest::groups; group += sum_block / TileRest::across)
    part[group][lane] =
        column < by && group < groups
            ? sum_of_column<tile_rows, 1>(of.columns((table * groups + group) * by + column)).value[0]
            : 0;
  __syncthreads();
  if (warp == 0 && column < by)
    of.column_done(table * by + column,
                   tree_of<TileRest::groups, 1, 1>([&](int i) { return Sums<1>{{part[i][lane]}}; }, 0));
}

/// The `run` argument of sum_tables (base/table_sums.hpp): SumItems, and of large tables a pass over tiles.
struct TableItems : SumItems {
  template <bool WithColumns, class T>
  void sum_margins(const T* weight, const TableShape& shape, const TableScratch& scratch) const {
    constexpr std::int64_t most = std::numeric_limits<int>::max();  // blocks of a grid
    const auto [tables, bx, by] = shape;
    const std::int64_t chunks = sum_chunks(by), pieces = scratch.pieces_of(bx),
                       tiles = tables * pieces * chunks;
    if (by < sum_chunk / 2 || bx < tile_rows / 2 || tiles < 64 || tiles > most)
      return kolmo::sum_margins<WithColumns>(weight, shape, scratch, *this);
    const TableTiles<T> to{{{weight, by}, {scratch.rows}, by, chunks, scratch.row_parts},
                           {weight, bx, by, pieces},
                           store_columns(scratch, pieces, 0),
                           WithColumns};
    cuda::launch_early(sum_tiles<T>, unsigned(tiles), sum_block, 0, stream, to);
    const PartialSums<3, StoreRows> rows{scratch.row_parts, {scratch.rows}, chunks};
    if (WithColumns && TileRest::fits(chunks, pieces)) {
      const std::int64_t groups = scratch.pieces_of(pieces), count = chunks > 1 ? tables * bx : 0;
      const TileRest rest{rows,
                          count,
                          count ? blocks(count, sum_block) : 0,
                          {scratch.pieces[0], pieces, by, groups},
                          {scratch.columns, nullptr}};
      return cuda::launch_early(finish_tiles, rest.blocks_of_rows + rest.blocks_of_columns(tables), sum_block,
                                0, stream, rest);
    }
    if (chunks > 1) (*this)(rows, tables * bx, chunks);
    if (WithColumns && pieces > 1)
      sum_columns(scratch.pieces[0], TableShape{tables, pieces, by}, scratch, 1, *this);
  }
};

}  // namespace
}  // namespace kolmo::cuda
