#pragma once
// matmul on tensor cores: f16 or bf16 factors, sums in f32. A block computes a tile of y, and a warp a part
// of it in fragments. Asynchronous copies bring pieces of a and b into shared memory several steps ahead.
#include "kolmo/device/mma.cuh"
#include "kolmo/ops/dense/matmul/launches.cuh"
#include "kolmo/ops/dense/matmul/pieces.cuh"

namespace kolmo {
namespace {

/// A block's tile has rows x columns elements and takes `depth` products at a time, with `stages` pieces in
/// shared memory. A warp computes high x wide of these elements. `blocks` blocks share a multiprocessor's
/// registers.
struct WarpTileShape {
  int rows, columns, depth, high, wide, stages, blocks;
  StepTime step;
  constexpr int threads() const { return rows / high * (columns / wide) * 32; }
};
constexpr WarpTileShape warp_tile_shapes[] = {{128, 128, 32, 64, 32, 4, 2, {1.15, 0.60}},
                                              {64, 64, 64, 32, 32, 3, 4, {1.20, 0.40}},
                                              {32, 32, 64, 16, 16, 3, 4, {0.60, 0.19}}};

/// Rows x Columns elements in shared memory, padded to avoid bank conflicts.
template <int Rows, int Columns>
struct Piece {
  static constexpr int stride = Columns + 8, size = Rows * stride;
  /// The rows of piece `stage`.
  template <class T>
  static __device__ auto rows(T* pieces, int stage) {
    return reinterpret_cast<T(*)[stride]>(pieces + stage * size);
  }
};

template <int V, bool TurnedA, bool TurnedB>
struct WarpTiles {
  static constexpr WarpTileShape S = warp_tile_shapes[V];
  using A = Piece<TurnedA ? S.depth : S.rows, TurnedA ? S.rows : S.depth>;
  using B = Piece<TurnedB ? S.columns : S.depth, TurnedB ? S.depth : S.columns>;
  static constexpr int bytes = S.stages * (A::size + B::size) * 2;
  static_assert(S.threads() / 32 * 16 * 16 * int(sizeof(float)) <= bytes);
};

/// Stores 16x16 sums of a warp, from (row, column) of y on. The function is not inlined, because a kernel
/// calls it for up to 16 fragments.
template <class T>
[[gnu::noinline]] __device__ void put_fragment(const Gemm<T>& g, int part, std::int64_t entry, int row,
                                               int column, const float* sums, bool packs) {
  const int lane = int(threadIdx.x) % 32;
  if (packs) g.put_pack(part, entry, row + lane / 2, column + lane % 2 * 8, load_pack<8>(sums + lane * 8));
#pragma unroll 1
  for (int e = packs ? 256 : lane; e < 256; e += 32)
    g.put(part, entry, row + e / 16, column + e % 16, sums[e]);
}

template <class T, int V, bool TurnedA, bool TurnedB>
__global__ void __launch_bounds__(warp_tile_shapes[V].threads(), warp_tile_shapes[V].blocks)
    warp_tiles(const __grid_constant__ Gemm<T> g, bool packs_a, bool packs_b, bool packs_y) {
  using W = WarpTiles<V, TurnedA, TurnedB>;
  using Native = cuda::NativeHalf<T>;
  constexpr WarpTileShape S = W::S;
  constexpr int high = S.high / 16, wide = S.wide / 16;
  T* const pieces_a = cuda::dynamic_shared<T>();
  T* const pieces_b = pieces_a + S.stages * W::A::size;

  const TileIndex tile(g, blockIdx.x, S.rows, S.columns, S.depth);
  using Layout = PieceLayout;
  const int first = tile.first_step * S.depth;
  int k_left = min(tile.last_step * S.depth, g.k) - first;  // steps through k that are left to multiply
  PieceCopies<T, S.depth, S.rows, S.threads(), TurnedA ? Layout::down : Layout::right> copies_a(
      g.a + tile.entry * g.m * g.k, first, tile.row, g.k, g.m);
  PieceCopies<T, S.depth, S.columns, S.threads(), TurnedB ? Layout::right : Layout::down> copies_b(
      g.b + tile.entry * g.k * g.n, first, tile.column, g.k, g.n);
  const auto fetch = [&](int stage, int to_end) {
    copies_a.next(W::A::rows(pieces_a, stage), to_end, packs_a);
    copies_b.next(W::B::rows(pieces_b, stage), to_end, packs_b);
    cuda::commit_copies();
  };

  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int row = warp / (S.columns / S.wide) * S.high, column = warp % (S.columns / S.wide) * S.wide;
  cuda::SumFragment sum[high][wide];
#pragma unroll
  for (int i = 0; i < high; ++i)
#pragma unroll
    for (int j = 0; j < wide; ++j) cuda::wmma::fill_fragment(sum[i][j], 0.0f);

#pragma unroll 1
  for (int stage = 0; stage < S.stages - 1; ++stage) fetch(stage, k_left - stage * S.depth);
  int now = 0;
  for (; k_left > 0; k_left -= S.depth) {
    cuda::wait_copies<S.stages - 2>();
    __syncthreads();
    fetch((now ? now : S.stages) - 1, k_left - (S.stages - 1) * S.depth);
    const auto* from_a = reinterpret_cast<const Native*>(pieces_a + now * W::A::size);
    const auto* from_b = reinterpret_cast<const Native*>(pieces_b + now * W::B::size);
#pragma unroll
    for (int d = 0; d < S.depth; d += 16) {
      cuda::RightFragment<T, TurnedB> right[wide];
#pragma unroll
      for (int j = 0; j < wide; ++j) {
        const int c = column + 16 * j;
        cuda::wmma::load_matrix_sync(
            right[j], from_b + (TurnedB ? c * W::B::stride + d : d * W::B::stride + c), W::B::stride);
      }
#pragma unroll
      for (int i = 0; i < high; ++i) {
        const int r = row + 16 * i;
        cuda::LeftFragment<T, TurnedA> left;
        cuda::wmma::load_matrix_sync(left, from_a + (TurnedA ? d * W::A::stride + r : r * W::A::stride + d),
                                     W::A::stride);
#pragma unroll
        for (int j = 0; j < wide; ++j) cuda::wmma::mma_sync(sum[i][j], left, right[j], sum[i][j]);
      }
    }
    now = now + 1 == S.stages ? 0 : now + 1;
  }

  cuda::wait_copies<0>();
  __syncthreads();
  float* const stage = cuda::dynamic_shared<float>() + warp * 256;
  const bool plain =
      packs_y && g.parts == 1 && !g.y_is_f32 && !g.c && !g.bias && g.activation == Activation::none;
#pragma unroll
  for (int i = 0; i < high; ++i)
#pragma unroll
    for (int j = 0; j < wide; ++j) {
      cuda::wmma::store_matrix_sync(stage, sum[i][j], 16, cuda::wmma::mem_row_major);
      __syncwarp();
      const int first = tile.row + row + 16 * i, left = tile.column + column + 16 * j;
      if (plain) {
        Pack<float, 8> done = load_pack<8>(stage + lane * 8);
        for (float& v : done.value) v *= g.alpha;
        const int r = first + lane / 2, c = left + lane % 2 * 8;
        if (r < g.m && c < g.n)
          store_pack(static_cast<T*>(g.y) + (tile.entry * g.m + r) * g.n + c, narrowed<T, 8>(done));
      } else {
        put_fragment(g, tile.part, tile.entry, first, left, stage, packs_y);
      }
      __syncwarp();
    }
}

template <class T>
void launch_tensor_cores(const MatmulArgs& x, const MatmulPlan& plan, void* workspace, Stream& s,
                         const float* before) {
  Gemm<T> g = gemm_of<T>(x, plan.parts, workspace);
  g.before = before;
  cuda::select<int(std::size(warp_tile_shapes))>(plan.shape, [&]<int I> {
    constexpr WarpTileShape shape = warp_tile_shapes[I];
    with_turns(x, [&]<bool A, bool B> {
      cuda::launch(warp_tiles<T, I, A, B>, unsigned(blocks_of(x, shape, plan)), shape.threads(),
                   WarpTiles<I, A, B>::bytes, cuda::native(s), g, whole_packs(x.a), whole_packs(x.b),
                   whole_packs(x.y));
    });
  });
  combine_parts(g, s);
}

}  // namespace
}  // namespace kolmo
