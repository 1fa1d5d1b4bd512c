#pragma once
// matmul on the ordinary cores, in f32 and f64. A block computes a tile of y, and a thread a part of it in
// registers. Asynchronous copies bring the next pieces of a and b into shared memory during the computation
// with the current ones.
#include <algorithm>

#include "kolmo/device/spread.cuh"
#include "kolmo/ops/dense/matmul/launches.cuh"
#include "kolmo/ops/dense/matmul/pieces.cuh"

namespace kolmo {
namespace {

/// A block's tile has rows x columns elements and takes `depth` products at a time, with `stages` pieces in
/// shared memory. A thread computes high x wide of these elements, in packs of 16 bytes spread evenly over
/// the tile. Each of `teams` teams of threads computes the tile's sums for a part of the depth. `blocks`
/// blocks share a multiprocessor's registers.
struct TileShape {
  int rows, columns, depth, high, wide, stages, teams, blocks;
  StepTime step;
  constexpr int team() const { return rows / high * (columns / wide); }
  constexpr int threads() const { return team() * teams; }
};
constexpr int f32_tile_shapes = 6;
constexpr TileShape tile_shapes[] = {
    {128, 256, 16, 16, 8, 3, 1, 1, {3.05, 2.91}},  // f32
    {128, 128, 16, 8, 8, 2, 1, 2, {1.78, 1.53}},   // f32
    {128, 64, 16, 8, 4, 2, 1, 2, {1.05, 0.97}},    // f32
    {32, 32, 32, 4, 4, 2, 1, 8, {0.85, 0.31}},     // f32
    {128, 64, 32, 8, 8, 3, 2, 1, {1.84, 1.80}},    // f32
    {64, 64, 32, 8, 8, 3, 4, 1, {1.05, 1.00}},     // f32
    {32, 32, 32, 2, 2, 2, 1, 3, {1.53, 0.96}},     // f64
};

/// Reads this thread's part of a row of a piece.
template <class T, int Count, int Extent>
__device__ void read_part(T (&part)[Count], const T* row, int thread) {
  constexpr int width = pack_width<T>, groups = Count / width;
#pragma unroll
  for (int g = 0; g < groups; ++g)
    store_pack(&part[g * width], load_pack<width>(row + g * (Extent / groups) + thread * width));
}

template <class T, int V>
struct TilePieces {
  static constexpr TileShape S = tile_shapes[V];
  T a[S.stages][S.depth][S.rows + pack_width<T>];  // the padding keeps rows aligned and avoids bank conflicts
  T b[S.stages][S.depth][S.columns + pack_width<T>];
};
/// Bytes of shared memory, which holds the pieces and later the sums of all teams.
template <class T, int V>
constexpr std::size_t tile_bytes() {
  constexpr TileShape S = tile_shapes[V];
  return std::max(sizeof(TilePieces<T, V>), S.teams == 1 ? 0 : S.teams * S.rows * S.columns * sizeof(T));
}

template <class T, int V, bool TurnedA, bool TurnedB>
__global__ void __launch_bounds__(tile_shapes[V].threads(), tile_shapes[V].blocks)
    tiles(cuda::EarlyStart early, const __grid_constant__ Gemm<T> g, bool packs_a, bool packs_b,
          bool packs_y) {
  constexpr TileShape S = tile_shapes[V];
  constexpr int width = pack_width<T>, across = S.columns / S.wide, team_depth = S.depth / S.teams;
  using Pieces = TilePieces<T, V>;
  static_assert((S.teams == 1 || S.team() % 32 == 0) && team_depth % 2 == 0);
  Pieces& pieces = *cuda::dynamic_shared<Pieces>();

  const TileIndex tile(g, blockIdx.x, S.rows, S.columns, S.depth);
  using Layout = PieceLayout;
  const int first = tile.first_step * S.depth;
  int k_left = min(tile.last_step * S.depth, g.k) - first;  // steps through k that are left to multiply
  PieceCopies<T, S.depth, S.rows, S.threads(), TurnedA ? Layout::down : Layout::turned> copies_a(
      g.a + tile.entry * g.m * g.k, first, tile.row, g.k, g.m);
  PieceCopies<T, S.depth, S.columns, S.threads(), TurnedB ? Layout::turned : Layout::down> copies_b(
      g.b + tile.entry * g.k * g.n, first, tile.column, g.k, g.n);
  const auto fetch = [&](int stage, int to_end) {
    copies_a.next(pieces.a[stage], to_end, packs_a);
    copies_b.next(pieces.b[stage], to_end, packs_b);
    cuda::commit_copies();
  };

  const int team = int(threadIdx.x) / S.team(), x = int(threadIdx.x) % S.team() % across,
            y = int(threadIdx.x) % S.team() / across;
  T sum[S.high][S.wide] = {};
  early.wait();
#pragma unroll 1
  for (int stage = 0; stage < S.stages - 1; ++stage) fetch(stage, k_left - stage * S.depth);
  int now = 0;
  alignas(16) T left[2][S.high], right[2][S.wide];
  const auto load = [&](int to, int stage, int d) {
    read_part<T, S.high, S.rows>(left[to], pieces.a[stage][team * team_depth + d], y);
    read_part<T, S.wide, S.columns>(right[to], pieces.b[stage][team * team_depth + d], x);
  };
  const auto wait = [&] {
    cuda::wait_copies<S.stages - 2>();
    __syncthreads();
  };
  wait();
  load(0, 0, 0);
  for (; k_left > 0; k_left -= S.depth) {
    fetch((now ? now : S.stages) - 1, k_left - (S.stages - 1) * S.depth);
#pragma unroll
    for (int d = 0; d < team_depth; ++d) {
      const int held = d % 2;
      if (d + 1 < team_depth) {
        load(1 - held, now, d + 1);
      } else {
        now = now + 1 == S.stages ? 0 : now + 1;
        wait();
        load(1 - held, now, 0);
      }
#pragma unroll
      for (int i = 0; i < S.high; ++i)
#pragma unroll
        for (int j = 0; j < S.wide; ++j) sum[i][j] += left[held][i] * right[held][j];
    }
  }
  cuda::wait_copies<0>();

  const PackWriter<T, S.high * S.wide <= 16> writer(g, tile.part, tile.entry, packs_y);
  const auto pack = [&](int i, int j) {
    Pack<T, width> sums;
#pragma unroll
    for (int w = 0; w < width; ++w) sums.value[w] = sum[i][j + w];
    return sums;
  };
  const auto row_of = [&](int i) { return i / width * (S.rows * width / S.high) + y * width + i % width; };
  const auto column_of = [&](int j) { return j / width * (S.columns * width / S.wide) + x * width; };
  if constexpr (S.teams == 1) {
#pragma unroll
    for (int j = 0; j < S.wide; j += width) {
      const int column = tile.column + column_of(j);
      const auto bias = writer.bias(column);
#pragma unroll
      for (int i = 0; i < S.high; ++i) writer.put(tile.row + row_of(i), column, pack(i, j), bias);
    }
  } else {
    T* const sums = cuda::dynamic_shared<T>();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < S.high; ++i)
#pragma unroll
      for (int j = 0; j < S.wide; j += width)
        store_pack(sums + (team * S.rows + row_of(i)) * S.columns + column_of(j), pack(i, j));
    __syncthreads();
    for (int e = int(threadIdx.x) * width; e < S.rows * S.columns; e += S.threads() * width) {
      Pack<T, width> total{};
#pragma unroll
      for (int t = 0; t < S.teams; ++t) {
        const auto more = load_pack<width>(sums + t * S.rows * S.columns + e);
#pragma unroll
        for (int w = 0; w < width; ++w) total.value[w] += more.value[w];
      }
      const int column = tile.column + e % S.columns;
      writer.put(tile.row + e / S.columns, column, total, writer.bias(column));
    }
  }
}

/// Launches the kernel of the plan's shape, which is one of Count from First on.
template <class T, int First, int Count>
void launch_tiles(const MatmulArgs& x, const MatmulPlan& plan, void* workspace, Stream& s) {
  const Gemm<T> g = gemm_of<T>(x, plan.parts, workspace);
  cuda::select<Count>(plan.shape - First, [&]<int I> {
    constexpr TileShape shape = tile_shapes[First + I];
    with_turns(x, [&]<bool A, bool B> {
      cuda::launch_spread(tiles<T, First + I, A, B>, unsigned(blocks_of(x, shape, plan)), shape.threads(),
                          tile_bytes<T, First + I>(), s, g, whole_packs(x.a), whole_packs(x.b),
                          whole_packs(x.y));
    });
  });
  combine_parts(g, s);
}

}  // namespace
}  // namespace kolmo
