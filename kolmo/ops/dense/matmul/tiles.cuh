#pragma once
// matmul on the ordinary cores, in f32 and f64. A block computes a tile of y, and a thread a part of it in
// registers. Asynchronous copies bring the next pieces of a and b into shared memory during the computation
// with the current ones. Anonymous namespace: see device/grid.cuh.
#include "kolmo/device/async.cuh"
#include "kolmo/ops/dense/matmul/gemm.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

/// A block's tile has rows x columns elements and takes `depth` products at a time. A thread's part is high x
/// wide, in groups of 16 bytes spread evenly over the tile. `blocks` blocks share a multiprocessor's
/// registers.
struct TileShape {
  int rows, columns, depth, high, wide, blocks;
  StepTime step;
  constexpr int threads() const { return rows / high * (columns / wide); }
};
constexpr TileShape tile_shapes[] = {
    {128, 128, 16, 8, 8, 2, {2.08, 1.93}},  // f32
    {128, 64, 16, 8, 4, 2, {1.38, 1.26}},   // f32
    {64, 64, 16, 4, 4, 3, {0.98, 0.70}},    // f32
    {32, 32, 32, 4, 4, 8, {1.72, 0.47}},    // f32
    {64, 64, 16, 4, 4, 2, {1.50, 1.18}},    // f64
    {32, 32, 32, 2, 2, 3, {2.60, 1.04}},    // f64
};

/// 16 bytes, copied at once.
template <class T>
struct alignas(16) Pack {
  static constexpr int size = 16 / sizeof(T);
  T value[size];
};

/// Starts copying `Depth` by `Extent` elements of a matrix from (k0, e0) on; elements outside the matrix
/// become 0. The matrix is depth x extent, or extent x depth if Turned. Rows in shared memory are indexed by
/// depth.
template <class T, int Depth, int Extent, int Threads, bool Turned, int Row>
__device__ void fetch(T (*to)[Row], const T* from, int k0, int e0, int depth, int extent, bool packs) {
  constexpr int width = Pack<T>::size;
  const int thread = int(threadIdx.x);
  if constexpr (Turned) {
#pragma unroll 4
    for (int i = thread; i < Depth * Extent; i += Threads) {
      const int d = i % Depth, e = i / Depth;
      const bool inside = k0 + d < depth && e0 + e < extent;
      cuda::copy_async(&to[d][e], inside ? from + std::int64_t(e0 + e) * depth + k0 + d : nullptr);
    }
  } else if (packs) {
#pragma unroll 4
    for (int i = thread; i < Depth * Extent / width; i += Threads) {
      const int d = i / (Extent / width), e = i % (Extent / width) * width;
      const bool inside = k0 + d < depth && e0 + e < extent;
      cuda::copy_async(
          reinterpret_cast<int4*>(&to[d][e]),
          inside ? reinterpret_cast<const int4*>(from + std::int64_t(k0 + d) * extent + e0 + e) : nullptr);
    }
  } else {
#pragma unroll 1
    for (int i = thread; i < Depth * Extent; i += Threads) {
      const int d = i / Extent, e = i % Extent;
      const bool inside = k0 + d < depth && e0 + e < extent;
      cuda::copy_async(&to[d][e], inside ? from + std::int64_t(k0 + d) * extent + e0 + e : nullptr);
    }
  }
}

/// Reads this thread's part of a row of a piece.
template <class T, int Count, int Extent>
__device__ void read_part(T (&part)[Count], const T* row, int thread) {
  constexpr int width = Pack<T>::size, groups = Count / width;
#pragma unroll
  for (int g = 0; g < groups; ++g)
    *reinterpret_cast<Pack<T>*>(&part[g * width]) =
        *reinterpret_cast<const Pack<T>*>(row + g * (Extent / groups) + thread * width);
}

template <class T, int V, bool TurnedA, bool TurnedB>
__global__ void __launch_bounds__(tile_shapes[V].threads(), tile_shapes[V].blocks)
    tiles(Gemm<T> g, bool packs_a, bool packs_b) {
  constexpr TileShape S = tile_shapes[V];
  constexpr int width = Pack<T>::size, across = S.columns / S.wide, groups = S.high / width;
  struct Pieces {
    T a[2][S.depth][S.rows + width];  // the pad keeps rows aligned and avoids bank conflicts
    T b[2][S.depth][S.columns + width];
  };
  static_assert(S.rows / S.high * (S.columns + 1) * sizeof(T) <= sizeof(Pieces) &&
                sizeof(Pieces) <= 48 * 1024);
  __shared__ __align__(16) Pieces pieces;

  const TileIndex tile(g, blockIdx.x, S.rows, S.columns, S.depth);
  const T *a = g.a + tile.entry * g.m * g.k, *b = g.b + tile.entry * g.k * g.n;
  const auto fetch_piece = [&](int step) {
    const int k0 = step * S.depth, at = step % 2;
    fetch<T, S.depth, S.rows, S.threads(), !TurnedA>(pieces.a[at], a, k0, tile.row, g.k, g.m, packs_a);
    fetch<T, S.depth, S.columns, S.threads(), TurnedB>(pieces.b[at], b, k0, tile.column, g.k, g.n, packs_b);
  };

  const int x = int(threadIdx.x) % across, y = int(threadIdx.x) / across;
  T sum[S.high][S.wide] = {};
  if (tile.first_step < tile.last_step) fetch_piece(tile.first_step);
  cuda::commit_copies();
  for (int step = tile.first_step; step < tile.last_step; ++step) {
    cuda::wait_copies<0>();
    __syncthreads();
    if (step + 1 < tile.last_step) fetch_piece(step + 1);
    cuda::commit_copies();
#pragma unroll
    for (int d = 0; d < S.depth; ++d) {
      alignas(16) T left[S.high], right[S.wide];
      read_part<T, S.high, S.rows>(left, pieces.a[step % 2][d], y);
      read_part<T, S.wide, S.columns>(right, pieces.b[step % 2][d], x);
#pragma unroll
      for (int i = 0; i < S.high; ++i)
#pragma unroll
        for (int j = 0; j < S.wide; ++j) sum[i][j] += left[i] * right[j];
    }
  }

  // Row i of every thread's part goes through shared memory, so that neighbouring threads write neighbouring
  // elements.
  T(*strip)[S.columns + 1] = reinterpret_cast<T(*)[S.columns + 1]>(&pieces);
  constexpr int parts = S.wide / width;
#pragma unroll
  for (int i = 0; i < S.high; ++i) {
    __syncthreads();
#pragma unroll
    for (int j = 0; j < S.wide; ++j)
      strip[y][j / width * (S.columns / parts) + x * width + j % width] = sum[i][j];
    __syncthreads();
#pragma unroll 1
    for (int e = int(threadIdx.x); e < S.rows / S.high * S.columns; e += S.threads()) {
      const int row = i / width * (S.rows / groups) + e / S.columns * width + i % width;
      g.put(tile.part, tile.entry, tile.row + row, tile.column + e % S.columns,
            strip[e / S.columns][e % S.columns]);
    }
  }
}

}  // namespace
}  // namespace kolmo
