#pragma once
// matmul on tensor cores in f64. A block computes a tile of y, and a warp a part of it, in tiles of 16x8.
// Asynchronous copies bring pieces of a and b into shared memory several steps ahead.
#include "kolmo/device/mma.cuh"
#include "kolmo/device/spread.cuh"
#include "kolmo/ops/dense/matmul/launches.cuh"
#include "kolmo/ops/dense/matmul/pieces.cuh"

namespace kolmo {
namespace {

/// A block's tile has rows x columns elements and takes `depth` products at a time, with `stages` pieces in
/// shared memory. A warp computes high x wide of these elements. `blocks` blocks share a multiprocessor's
/// registers.
struct DoubleTileShape {
  int rows, columns, depth, high, wide, stages, blocks;
  StepTime step;
  constexpr int threads() const { return rows / high * (columns / wide) * 32; }
};
constexpr DoubleTileShape double_tile_shapes[] = {{128, 64, 16, 64, 32, 3, 2, {0.70, 0.58}},
                                                  {64, 64, 16, 32, 32, 4, 2, {0.36, 0.32}}};

/// Pieces of a and b in shared memory, in the layout of the matrices. The padding lets a warp read 8 x 4
/// elements without bank conflicts.
template <int V, bool TurnedA, bool TurnedB>
struct DoublePieces {
  static constexpr DoubleTileShape S = double_tile_shapes[V];
  double a[S.stages][TurnedA ? S.depth : S.rows][(TurnedA ? S.rows : S.depth) + 4];
  double b[S.stages][TurnedB ? S.columns : S.depth][(TurnedB ? S.depth : S.columns) + 4];
};

template <int V>
using DoubleSums = double[double_tile_shapes[V].high / 16][double_tile_shapes[V].wide / 8][4];

/// Adds the products of a tile to the sums of the warp, whose part of the tile begins at (row, column). While
/// four products are computed the factors of the next four are read. There are no branches, so that the
/// compiler spreads loads and copies between the products. Packs: rows of both factors begin at multiples of
/// 16 bytes.
template <bool Packs, int V, bool TurnedA, bool TurnedB>
__device__ void add_products(DoubleSums<V>& sum, DoublePieces<V, TurnedA, TurnedB>& pieces,
                             const Gemm<double>& g, const TileIndex& tile, int row, int column) {
  using Layout = PieceLayout;
  constexpr DoubleTileShape S = double_tile_shapes[V];
  constexpr int high = S.high / 16, wide = S.wide / 8;
  static_assert(S.depth % 8 == 0);
  const int lane = int(threadIdx.x) % 32;
  const int first = tile.first_step * S.depth;
  int k_left = min(tile.last_step * S.depth, g.k) - first;  // steps through k that are left to multiply
  PieceCopies<double, S.depth, S.rows, S.threads(), TurnedA ? Layout::down : Layout::right> copies_a(
      g.a + tile.entry * g.m * g.k, first, tile.row, g.k, g.m);
  PieceCopies<double, S.depth, S.columns, S.threads(), TurnedB ? Layout::right : Layout::down> copies_b(
      g.b + tile.entry * g.k * g.n, first, tile.column, g.k, g.n);
  const auto fetch = [&](int stage, int to_end) {
    copies_a.template next<Packs>(pieces.a[stage], to_end);
    copies_b.template next<Packs>(pieces.b[stage], to_end);
    cuda::commit_copies();
  };
  double left[2][high][2], right[2][wide];
  const auto load = [&](int to, int stage, int d) {
    const int k = d + lane % 4;
#pragma unroll
    for (int j = 0; j < wide; ++j) {
      const int c = column + 8 * j + lane / 4;
      right[to][j] = TurnedB ? pieces.b[stage][c][k] : pieces.b[stage][k][c];
    }
#pragma unroll
    for (int i = 0; i < 2 * high; ++i) {
      const int r = row + 8 * i + lane / 4;
      left[to][i / 2][i % 2] = TurnedA ? pieces.a[stage][k][r] : pieces.a[stage][r][k];
    }
  };
  const auto wait = [&] {
    cuda::wait_copies<S.stages - 2>();
    __syncthreads();
  };

#pragma unroll 1
  for (int stage = 0; stage < S.stages - 1; ++stage) fetch(stage, k_left - stage * S.depth);
  wait();
  load(0, 0, 0);
  int now = 0;
  for (; k_left > 0; k_left -= S.depth) {
    fetch((now ? now : S.stages) - 1, k_left - (S.stages - 1) * S.depth);
#pragma unroll
    for (int d = 0; d < S.depth; d += 4) {
      const int held = d / 4 % 2;
      if (d + 4 < S.depth) {
        load(1 - held, now, d + 4);
      } else {
        now = now + 1 == S.stages ? 0 : now + 1;
        wait();
        load(1 - held, now, 0);
      }
#pragma unroll
      for (int i = 0; i < high; ++i)
#pragma unroll
        for (int j = 0; j < wide; ++j) cuda::multiply_16x8x4(sum[i][j], left[held][i], right[held][j]);
    }
  }
  cuda::wait_copies<0>();
}

template <int V, bool TurnedA, bool TurnedB>
__global__ void __launch_bounds__(double_tile_shapes[V].threads(), double_tile_shapes[V].blocks)
    double_tiles(cuda::EarlyStart early, const __grid_constant__ Gemm<double> g, bool packs, bool packs_y) {
  using Pieces = DoublePieces<V, TurnedA, TurnedB>;
  constexpr DoubleTileShape S = double_tile_shapes[V];
  Pieces& pieces = *cuda::dynamic_shared<Pieces>();

  const TileIndex tile(g, blockIdx.x, S.rows, S.columns, S.depth);
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int row = warp / (S.columns / S.wide) * S.high, column = warp % (S.columns / S.wide) * S.wide;
  DoubleSums<V> sum = {};
  early.wait();
  packs ? add_products<true>(sum, pieces, g, tile, row, column)
        : add_products<false>(sum, pieces, g, tile, row, column);

  const auto pair = [&](int i, int j) {
    return Pack<double, 2>{{sum[i / 2][j][i % 2 * 2], sum[i / 2][j][i % 2 * 2 + 1]}};
  };
  const auto row_of = [&](int i) { return row + 8 * i + lane / 4; };
  const auto column_of = [&](int j) { return column + 8 * j + lane % 4 * 2; };
  const PackWriter<double, true> writer(g, tile.part, tile.entry, packs_y);
  if (writer.plain()) {
#pragma unroll
    for (int j = 0; j < S.wide / 8; ++j) {
      const int c = tile.column + column_of(j);
      const auto bias = writer.bias(c);
#pragma unroll
      for (int i = 0; i < S.high / 8; ++i) writer.put(tile.row + row_of(i), c, pair(i, j), bias);
    }
    return;
  }

  // Other sums go through shared memory, from which each thread takes neighbouring ones: it can then wait for
  // all that is added to them at once.
  double* const sums = cuda::dynamic_shared<double>();
  static_assert(sizeof(Pieces) >= sizeof(double) * S.rows * S.columns);
  __syncthreads();
#pragma unroll
  for (int j = 0; j < S.wide / 8; ++j)
#pragma unroll
    for (int i = 0; i < S.high / 8; ++i) store_pack(sums + row_of(i) * S.columns + column_of(j), pair(i, j));
  __syncthreads();
  constexpr int width = 4;
#pragma unroll 1
  for (int e = width * int(threadIdx.x); e < S.rows * S.columns; e += width * S.threads())
    g.put_neighbors<width>(tile.entry, tile.row + e / S.columns, tile.column + e % S.columns,
                           load_pack<width>(sums + e));
}

}  // namespace
}  // namespace kolmo
