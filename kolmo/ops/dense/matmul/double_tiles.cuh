#pragma once
// matmul on tensor cores in f64. A block computes a tile of y, and a warp a part of it, in tiles of 16x8.
// Asynchronous copies bring pieces of a and b into shared memory several steps ahead. Anonymous namespace: see
// device/grid.cuh.
#include "kolmo/device/mma.cuh"
#include "kolmo/ops/dense/matmul/launches.cuh"
#include "kolmo/ops/dense/matmul/pieces.cuh"

namespace kolmo {
namespace {

/// A block's tile has rows x columns elements and takes `depth` products at a time, with `stages` pieces in
/// shared memory. A warp's part is high x wide. `blocks` blocks share a multiprocessor's registers.
struct DoubleTileShape {
  int rows, columns, depth, high, wide, stages, blocks;
  StepTime step;
  constexpr int threads() const { return rows / high * (columns / wide) * 32; }
};
constexpr DoubleTileShape double_tile_shapes[] = {{64, 64, 16, 32, 32, 4, 2, {0.70, 0.34}}};

/// Pieces of a and b as they lie in memory. The pads let a warp read 8 x 4 elements without bank conflicts.
template <int V, bool TurnedA, bool TurnedB>
struct DoublePieces {
  static constexpr DoubleTileShape S = double_tile_shapes[V];
  double a[S.stages][TurnedA ? S.depth : S.rows][(TurnedA ? S.rows : S.depth) + 4];
  double b[S.stages][TurnedB ? S.columns : S.depth][(TurnedB ? S.depth : S.columns) + 4];
};

template <int V, bool TurnedA, bool TurnedB>
__global__ void __launch_bounds__(double_tile_shapes[V].threads(), double_tile_shapes[V].blocks)
    double_tiles(const __grid_constant__ Gemm<double> g, bool packs_a, bool packs_b, bool packs_y) {
  using Pieces = DoublePieces<V, TurnedA, TurnedB>;
  constexpr DoubleTileShape S = double_tile_shapes[V];
  constexpr int high = S.high / 16, wide = S.wide / 8;
  Pieces& pieces = *cuda::dynamic_shared<Pieces>();

  const TileIndex tile(g, blockIdx.x, S.rows, S.columns, S.depth);
  const double *a = g.a + tile.entry * g.m * g.k, *b = g.b + tile.entry * g.k * g.n;
  const auto fetch_piece = [&](int step) {
    if (step < tile.last_step) {
      const int k0 = step * S.depth, at = step % S.stages;
      if constexpr (TurnedA)
        fetch<double, S.depth, S.rows, S.threads(), false>(pieces.a[at], a, k0, tile.row, g.k, g.m, packs_a);
      else
        fetch<double, S.rows, S.depth, S.threads(), false>(pieces.a[at], a, tile.row, k0, g.m, g.k, packs_a);
      if constexpr (TurnedB)
        fetch<double, S.columns, S.depth, S.threads(), false>(pieces.b[at], b, tile.column, k0, g.n, g.k,
                                                              packs_b);
      else
        fetch<double, S.depth, S.columns, S.threads(), false>(pieces.b[at], b, k0, tile.column, g.k, g.n,
                                                              packs_b);
    }
    cuda::commit_copies();
  };

  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int row = warp / (S.columns / S.wide) * S.high, column = warp % (S.columns / S.wide) * S.wide;
  double sum[high][wide][4] = {};
#pragma unroll 1
  for (int ahead = 0; ahead < S.stages - 1; ++ahead) fetch_piece(tile.first_step + ahead);
  for (int step = tile.first_step; step < tile.last_step; ++step) {
    cuda::wait_copies<S.stages - 2>();
    __syncthreads();
    fetch_piece(step + S.stages - 1);
    const auto& from_a = pieces.a[step % S.stages];
    const auto& from_b = pieces.b[step % S.stages];
#pragma unroll
    for (int d = 0; d < S.depth; d += 16) {
      double right[wide][4];
#pragma unroll
      for (int j = 0; j < wide; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int k = d + lane % 4 + 4 * i, c = column + 8 * j + lane / 4;
          right[j][i] = TurnedB ? from_b[c][k] : from_b[k][c];
        }
#pragma unroll
      for (int i = 0; i < high; ++i) {
        double left[8];
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          const int k = d + lane % 4 + 4 * (e / 2), r = row + 16 * i + lane / 4 + 8 * (e % 2);
          left[e] = TurnedA ? from_a[k][r] : from_a[r][k];
        }
#pragma unroll
        for (int j = 0; j < wide; ++j) cuda::multiply_16x8x16(sum[i][j], left, right[j]);
      }
    }
  }

  const PackWriter<double> writer(g, tile.part, tile.entry, packs_y);
#pragma unroll
  for (int j = 0; j < wide; ++j) {
    const int c = tile.column + column + 8 * j + lane % 4 * 2;
    const auto bias = writer.bias(c);
#pragma unroll
    for (int i = 0; i < 2 * high; ++i)
      writer.put(tile.row + row + 8 * i + lane / 4, c,
                 {sum[i / 2][j][i % 2 * 2], sum[i / 2][j][i % 2 * 2 + 1]}, bias);
  }
}

}  // namespace
}  // namespace kolmo
