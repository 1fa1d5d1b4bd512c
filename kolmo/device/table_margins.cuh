#pragma once
// What is left of large tables after the pass over tiles (device/table_tiles.cuh). Anonymous namespace: see device/grid.cuh.
#include <algorithm>
#include <cstdint>

#include "kolmo/base/table_sums.hpp"
#include "kolmo/device/reduce.cuh"
#include "kolmo/device/table_tiles.cuh"

namespace kolmo::cuda {
namespace {

/// Of at most 8 chunks of a row and 32 groups of 32 pieces of a column.
struct TileRest {
  static constexpr int most_chunks = 8, groups = tile_rows, across = 32;
  static bool fits(std::int64_t chunks, std::int64_t pieces) {
    return pieces > 1 && chunks <= most_chunks && pieces <= groups * tile_rows;
  }
};

/// The sum of at most `All` sums of pieces of a column, which are in the upper or lower halves of words.
template <int All>
__device__ double sum_of_packed(const std::uint32_t* words, unsigned first, unsigned step, bool upper,
                                const ColumnPieces<Sums<1>>::Row& terms) {
  std::uint32_t next[All];
  if (terms.count >= All) {
#pragma unroll
    for (int i = 0; i < All; ++i) next[i] = words[first + i * step];
  } else {
#pragma unroll
    for (int i = 0; i < All; ++i) next[i] = i < terms.count ? words[first + i * step] : 0;
  }
  const auto of_half = [&](std::uint32_t word) { return of_small_count(upper ? word >> 16 : word & 0xffff); };
  std::uint32_t sum = 0, any = 0;
#pragma unroll
  for (int i = 0; i < All; ++i) sum += next[i], any |= next[i];
  static_assert(All * tile_rows * small_counts <= 0x10000);
  if (any < 0x80000000) return of_half(sum);
  const auto term = [&](int i) { return next[i] == not_packed ? terms(i) : Sums<1>{{of_half(next[i])}}; };
  return tree_of<All, 1, 1>(term, 0).value[0];
}

/// The sums of 32 columns of a table from those of their pieces, to the first warp, one to each of its threads. The tree over a
/// group of pieces adds those of even places, those of odd ones, and both sums: a warp has one of these halves of a group,
/// so that the pieces of few groups are read at once. Every thread calls it, with a column as those of its lane.
__device__ inline double sum_of_pieces(const ColumnPieces<Sums<1>>& columns, const PackedColumns* packed,
                                       std::int64_t table, std::int64_t column, bool active) {
  constexpr int warps = sum_block / TileRest::across, few = warps / 2;
  __shared__ double part[2 * TileRest::groups][TileRest::across];
  const int lane = int(threadIdx.x) % TileRest::across, warp = int(threadIdx.x) / TileRest::across,
            groups = columns.pieces <= few ? few : TileRest::groups;
#pragma unroll 1
  for (int half = warp; half < 2 * groups; half += warps) {
    double sum = 0;
    if (const int group = half / 2, odd = half % 2; active && group < columns.pieces) {
      const auto [x, step, count] = columns.of(table, group, column);
      const ColumnPieces<Sums<1>>::Row terms{x + odd * step, 2 * step, (count + 1 - odd) / 2};
      if (packed) {
        const unsigned at = unsigned(column), chunks = unsigned(sum_chunks(columns.by)),
                       chunk = at / unsigned(sum_chunk),
                       tile = (unsigned(table * columns.bx) + group * tile_rows + odd) * chunks + chunk,
                       j = at % unsigned(sum_chunk) / sum_block;
        constexpr unsigned each = sizeof(PackedColumns) / sizeof(std::uint32_t);
        sum = sum_of_packed<tile_rows / 2>(packed->value, (tile * sum_block + at % sum_block) * each + j / 2,
                                           2 * chunks * sum_block * each, j % 2, terms);
      } else {
        sum = sum_of_column<tile_rows / 2, 1>(terms).value[0];
      }
    }
    part[half][lane] = sum;
  }
  __syncthreads();
  if (warp) return 0;
  const auto of_group = [&](int i) { return Sums<1>{{exact_add(part[2 * i][lane], part[2 * i + 1][lane])}}; };
  return (groups == few ? tree_of<few, 1, 1>(of_group, 0) : tree_of<TileRest::groups, 1, 1>(of_group, 0))
      .value[0];
}

/// The margins of many tables. The first blocks have a thread for each row, the others 32 columns each.
struct TileMargins {
  PartialSums<3, StoreRows> rows;
  std::int64_t row_count;
  unsigned blocks_of_rows;
  ColumnPieces<Sums<1>> columns;  ///< sums of pieces
  StoreColumns column_done;

  unsigned blocks_of_columns(std::int64_t tables) const {
    return cuda::blocks(columns.by, TileRest::across) * unsigned(tables);
  }
};
__global__ void __launch_bounds__(sum_block) finish_tiles(EarlyStart early, TileMargins of) {
  early.wait();
  if (blockIdx.x < of.blocks_of_rows) {
    const std::int64_t row = std::int64_t(blockIdx.x) * sum_block + threadIdx.x;
    const auto sum = group_sum<1, TileRest::most_chunks, 3>(of.rows.terms(row < of.row_count ? row : 0),
                                                            row < of.row_count, 0);
    if (row < of.row_count) of.rows.finish(row, sum);
    return;
  }
  const std::int64_t by = of.columns.by;
  const unsigned strips = unsigned(by + TileRest::across - 1) / TileRest::across,
                 block = blockIdx.x - of.blocks_of_rows, table = block / strips;
  const std::int64_t column =
      std::int64_t(block - table * strips) * TileRest::across + threadIdx.x % TileRest::across;
  const double sum = sum_of_pieces(of.columns, nullptr, table, column, column < by);
  if (threadIdx.x < TileRest::across && column < by) of.column_done(table * by + column, {{sum}});
}

/// How the margins of few tables are divided among blocks: each has all terms of some neighbouring lanes (base/sums.hpp) of a chunk
/// of TableMargins, a thread for each margin. The threads of a warp have the columns of a block, whole sectors of them.
template <bool WithColumns>
struct MarginStrips {
  static constexpr int sums = WithColumns ? 5 : 3, terms = int(sum_chunk) / sum_lanes,
                       lanes = WithColumns ? TileRest::across / terms : sum_block / terms,
                       size = lanes * terms, of_chunk = sum_lanes / lanes, most_chunks = 8;
  /// Of a launch: more tables have enough to do for a launch for each step.
  static constexpr std::int64_t most_blocks = 512;
  std::int64_t bx, margins, chunks, count;

  explicit MarginStrips(const TableShape& shape)
      : bx(shape.bx),
        margins(shape.bx + (WithColumns ? shape.by : 0)),
        chunks(sum_chunks(margins)),
        count((chunks - 1) * of_chunk +
              blocks(std::min<std::int64_t>(margins - (chunks - 1) * sum_chunk, sum_lanes), lanes)) {}

  /// Whether margins of a chunk add to sum number i: rows to the first three, columns to the others.
  KOLMO_HD bool adds(int chunk, int i) const {
    return i < 3 ? chunk * sum_chunk < bx : (chunk + 1) * sum_chunk > bx;
  }
  bool fit(const TableShape& shape) const {
    const std::int64_t of_row = sum_chunks(shape.by);
    return are_of_tiles(shape) &&
           (WithColumns ? TileRest::fits(of_row, TableScratch::pieces_of(shape.bx))
                        : of_row <= TileRest::most_chunks) &&
           chunks <= most_chunks && shape.tables <= most_blocks / count;
  }
};

/// Scratch memory of sum_if_few: the sums of all lanes, of each chunk first those of its first sum, and the number of blocks of each
/// table that are done, and the sums of pieces of columns.
template <bool WithColumns>
struct LaneScratch {
  double* lane;
  unsigned* done;
  PackedColumns* packed;

  LaneScratch(Arena& arena, const TableShape& shape) {
    const MarginStrips<WithColumns> strips(shape);
    const std::int64_t tables = strips.fit(shape) ? shape.tables : 0;
    lane = arena.take<double>(tables * strips.chunks * strips.sums * sum_lanes);
    done = arena.take<unsigned>(tables);
    packed = arena.take<PackedColumns>(
        WithColumns ? tables * TableScratch::pieces_of(shape.bx) * sum_chunks(shape.by) * sum_block : 0);
  }
};

template <bool WithColumns, class Done>
struct FewTables {
  MarginStrips<WithColumns> strips;
  const Sums<3>* margins;  ///< of rows, if they are of one chunk
  PartialSums<3, StoreRows> rows;
  ColumnPieces<Sums<1>> columns;
  LaneScratch<WithColumns> to;
  Done done;

  __device__ Sums<3> of_row(std::int64_t row) const {
    if (rows.chunks == 1) return margins[row];
    return margin_of_row(group_sum<1, TileRest::most_chunks, 3>(rows.terms(row), true, 0));
  }
};

/// Adds 1 to a counter. The thread that gets `before` from it sees what those did that came earlier.
__device__ inline unsigned count_up(unsigned* counter) {
#ifdef __CUDA_ARCH__
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(counter) : "memory");
  return before;
#else
  return atomicAdd(counter, 1u);
#endif
}

/// Brings what logarithms are made from near to a multiprocessor, which costs the first one there more than the rest of it. The
/// result is stored only as it must be used.
__device__ inline void warm_logs(double* unused) { *unused = log_exact(0x1p20 + threadIdx.x); }

/// The sum of a table from those of its lanes by a block, returned to its first thread. Eight threads add the lanes of one sum of
/// a chunk.
template <bool WithColumns>
__device__ Sums<5> sum_of_lanes(const MarginStrips<WithColumns>& strips, const double* from) {
  constexpr int sums = strips.sums, most = strips.most_chunks, threads = 8;
  static_assert(most * sums * threads % 32 == 0);
  __shared__ double of_chunk[sums][most];
  const int own = int(threadIdx.x), lane = own % threads;
#pragma unroll 1
  for (int number = own / threads; number < most * sums; number += sum_block / threads) {
    const int chunk = number / sums, i = number % sums;
    const std::int64_t count = std::min<std::int64_t>(strips.margins - chunk * sum_chunk, sum_lanes);
    Sums<1> of_thread[1] = {};
    if (count > 0 && strips.adds(chunk, i)) {
      const ColumnPieces<double>::Row terms{from + number * sum_lanes + lane, threads,
                                            int(count + threads - 1 - lane) / threads};
      of_thread[0] = sum_of_column<sum_lanes / threads, 1>(terms);
    }
    const auto sum = tree<threads>(of_thread);
    if (lane == 0) of_chunk[i][chunk] = sum.value[0];
  }
  __syncthreads();
  if (own >= 32) return {};
  const auto term = [&](int chunk) { return Sums<1>{{of_chunk[own][chunk]}}; };
  const double sum = own < sums ? tree_of<most, 1, 1>(term, 0).value[0] : 0;
  Sums<5> all{};
#pragma unroll
  for (int i = 0; i < sums; ++i) all.value[i] = __shfl_sync(~0u, sum, i);
  return all;
}

/// What is left to add of few tables. The last block of each is the one that adds the sums of lanes and finishes it.
template <bool WithColumns, class Done>
__global__ void __launch_bounds__(sum_block, 2)
    finish_tables(EarlyStart early, FewTables<WithColumns, Done> of) {
  using Strips = MarginStrips<WithColumns>;
  // Rows of the array begin in other banks, as threads that read the same column of it read at once.
  __shared__ double held[Strips::sums][Strips::size + Strips::lanes];
  const unsigned count = unsigned(of.strips.count), table = blockIdx.x / count,
                 strip = blockIdx.x - table * count;
  const int thread = int(threadIdx.x), chunk = int(strip) / Strips::of_chunk,
            first_lane = int(strip) % Strips::of_chunk * Strips::lanes, own = thread % Strips::size;
  const int first = chunk * int(sum_chunk) + first_lane,
            margin = first + own / Strips::lanes * sum_lanes + own % Strips::lanes;
  double* const lanes = of.to.lane + table * of.strips.chunks * Strips::sums * sum_lanes;
  if (thread < Strips::size) warm_logs(&held[0][thread]);
  early.wait();
  double column_sum = 0;
  if constexpr (WithColumns)
    if (first + Strips::lanes + (Strips::terms - 1) * sum_lanes > of.strips.bx)
      column_sum = sum_of_pieces(of.columns, of.to.packed, table, margin - of.strips.bx,
                                 margin >= of.strips.bx && margin < of.strips.margins);
  const auto sync = [] {  // the threads that have a margin
    if constexpr (Strips::size == 32)
      __syncwarp();
    else
      __syncthreads();
  };
  bool last = false;
  if (thread < Strips::size) {
    Sums<3> of_row{};
    Sums<2> of_column{};
    if (margin < of.strips.bx)
      of_row = of.of_row(table * of.strips.bx + margin);
    else if (WithColumns && margin < of.strips.margins)
      of_column = margin_of_column(column_sum);
#pragma unroll
    for (int i = 0; i < Strips::sums; ++i) held[i][own] = i < 3 ? of_row.value[i] : of_column.value[i - 3];
    sync();
    if (const int i = thread / Strips::lanes, lane = thread % Strips::lanes;
        i < Strips::sums && of.strips.adds(chunk, i)) {
      double sum = 0;
#pragma unroll
      for (int t = 0; t < Strips::terms; ++t) sum = exact_add(sum, held[i][t * Strips::lanes + lane]);
      lanes[(chunk * Strips::sums + i) * sum_lanes + first_lane + lane] = sum;
    }
    sync();
    last = thread == 0 && count_up(of.to.done + table) == count - 1;
  }
  if (!__syncthreads_or(last)) return;
  const auto sum = sum_of_lanes(of.strips, lanes);
  if (thread == 0) of.done(table, sum);
}

/// Does what sum_tables does, if the tables are large and few; returns whether it did.
template <bool WithColumns, class T, class Done>
bool sum_if_few(const T* weight, const TableShape& shape, const Done& done, const TableScratch& scratch,
                const LaneScratch<WithColumns>& lanes, cudaStream_t stream) {
  const MarginStrips<WithColumns> strips(shape);
  if (!strips.fit(shape)) return false;
  const auto [tables, bx, by] = shape;
  launch_tiles<WithColumns>(weight, shape, scratch, stream, WithColumns ? lanes.packed : nullptr, tables,
                            lanes.done);
  const std::int64_t pieces = scratch.pieces_of(bx);
  const FewTables<WithColumns, Done> rest{strips,
                                          scratch.rows,
                                          {scratch.row_parts, {scratch.rows}, sum_chunks(by)},
                                          {scratch.pieces[0], pieces, by, scratch.pieces_of(pieces)},
                                          lanes,
                                          done};
  const unsigned count = unsigned(tables * strips.count);
  cuda::launch_early_if(all_at_once(count), finish_tables<WithColumns, Done>, count, sum_block, 0, stream,
                        rest);
  return true;
}

/// The `run` argument of sum_tables (base/table_sums.hpp): SumItems, and of large tables a pass over tiles.
struct TableItems : SumItems {
  template <bool WithColumns, class T>
  void sum_margins(const T* weight, const TableShape& shape, const TableScratch& scratch) const {
    if (!are_of_tiles(shape)) return kolmo::sum_margins<WithColumns>(weight, shape, scratch, *this);
    launch_tiles<WithColumns>(weight, shape, scratch, stream);
    const auto [tables, bx, by] = shape;
    const std::int64_t chunks = sum_chunks(by), pieces = scratch.pieces_of(bx);
    const PartialSums<3, StoreRows> rows{scratch.row_parts, {scratch.rows}, chunks};
    if (WithColumns && TileRest::fits(chunks, pieces)) {
      const std::int64_t count = chunks > 1 ? tables * bx : 0;
      const TileMargins rest{rows,
                             count,
                             count ? blocks(count, sum_block) : 0,
                             {scratch.pieces[0], pieces, by, scratch.pieces_of(pieces)},
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
