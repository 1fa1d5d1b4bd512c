#pragma once
// matmul of at most 16 rows in f32. It takes as long as reading b, which each warp copies some steps ahead into shared
// memory of its own, in pieces of 512 bytes of a row: copies end in their order, while of loads into registers the first is
// usable only when all are there, as they share a scoreboard. A cluster of blocks, the ranks, computes 128 columns of y: all
// their warps share out the steps through k and add their sums, first in each block. Anonymous namespace: see
// device/grid.cuh.
#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "kolmo/device/async.cuh"
#include "kolmo/device/clusters.cuh"
#include "kolmo/device/read_once.cuh"
#include "kolmo/ops/dense/matmul/launches.cuh"

namespace kolmo {
namespace {

struct FewRowsF32 {
  static constexpr int rows = 16, columns = 128, depth = 8, warps = 8, most_ranks = 8;
  static constexpr int many_stages = 48 / warps,
                       few_stages = 2;           ///< in 224 KB of shared memory or less than 99
  static constexpr StepTime step{0.075, 0.125};  ///< a block alone, and if all multiprocessors have one
  static constexpr std::int64_t most_k =
      limit - (many_stages + 2) * most_ranks * warps * depth;  ///< for indices of steps beyond the end

  struct Stage {
    alignas(16) float a[rows][depth];
    float b[depth][columns];
  };
  struct Sums {
    alignas(16) float of[rows][columns];
  };
  /// Of shared memory: the ranks' sums of the rows that this one completes, then the stages of each warp, which are
  /// followed by its sums.
  static constexpr std::size_t bytes(int stages) {
    return sizeof(Sums) + std::size_t(warps) * std::size_t(stages) * sizeof(Stage);
  }
  static_assert(sizeof(Sums) <= few_stages * sizeof(Stage));
};

/// Microseconds of a call with so many ranks for each strip of columns. Blocks that have memory to themselves are bound by
/// their arithmetic.
inline double few_rows_time(const MatmulArgs& x, int ranks) {
  using S = FewRowsF32;
  constexpr std::int64_t multiprocessors = 132;
  constexpr double of_start = 1;
  const std::int64_t blocks = blocks_of(x, S{}, {.parts = ranks}), rest = blocks % multiprocessors;
  const double steps = std::ceil(double(MatmulSizes(x).k) / (S::depth * ranks)),
               of_rest = std::max(S::step.alone, S::step.shared * double(rest) / multiprocessors);
  return double(blocks / multiprocessors) * (steps * S::step.shared + of_start) +
         (rest ? steps * of_rest + of_start : 0);
}
/// The fastest number of ranks, each with a k of at least 256.
inline int ranks_of(const MatmulArgs& x) {
  int best = 1;
  for (int ranks = 2; ranks <= FewRowsF32::most_ranks && MatmulSizes(x).k >= ranks * 256; ranks *= 2)
    if (few_rows_time(x, ranks) < few_rows_time(x, best)) best = ranks;
  return best;
}

/// a(row, k) of an entry is at a[row * of_row + k * of_k], with PacksA of_k = 1 and rows at multiples of 16 bytes.
/// A lane has four neighbouring columns of all rows. The number of ranks divides that of the rows.
template <bool PacksA>
__global__ void __launch_bounds__(FewRowsF32::warps * 32, 1)
    few_rows_f32(Gemm<float> g, std::int64_t of_row, std::int64_t of_k, int stages) {
  using S = FewRowsF32;
  using Words = Pack<float, 4>;
  cuda::announce_block();
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  S::Sums& of_ranks = *cuda::dynamic_shared<S::Sums>();
  const auto stages_of = [&](int warp) { return reinterpret_cast<S::Stage*>(&of_ranks + 1) + warp * stages; };
  const auto sums_of = [&](int warp) -> S::Sums& { return *reinterpret_cast<S::Sums*>(stages_of(warp)); };
  const int rank = cuda::block_in_cluster(), ranks = cuda::cluster_size();
  const unsigned strips = unsigned(g.n + S::columns - 1) / S::columns, index = blockIdx.x / unsigned(ranks),
                 entry = index / strips;
  const int column = int(index - entry * strips) * S::columns + lane * 4;
  const float* const a = g.a + entry * std::int64_t(g.m) * g.k;
  const float* const b = g.b + entry * std::int64_t(g.k) * g.n;
  const int first_k = (rank * S::warps + warp) * S::depth, next_k = ranks * S::warps * S::depth;

  using Copied = std::conditional_t<PacksA, Words, float>;
  constexpr int width = sizeof(Copied) / sizeof(float), across = S::depth / width, at_once = 32 / across;
  const int row = lane / across, at = lane % across * width;
  const float* from_a = a + row * of_row + (first_k + at) * of_k;
  const float* from_b = b + std::int64_t(first_k) * g.n + column;
  int k = first_k;  // of the next step to copy
  const auto fetch = [&](S::Stage& stage) {
    const int rows_of_a = k + at < g.k ? g.m : 0, rows_of_b = column < g.n ? g.k - k : 0;
#pragma unroll
    for (int i = 0; i < S::rows; i += at_once)
      cuda::copy_async(reinterpret_cast<Copied*>(&stage.a[row + i][at]),
                       reinterpret_cast<const Copied*>(from_a + i * of_row), row + i < rows_of_a);
#pragma unroll
    for (int i = 0; i < S::depth; ++i)
      cuda::copy_async(reinterpret_cast<Words*>(&stage.b[i][lane * 4]),
                       reinterpret_cast<const Words*>(from_b + std::int64_t(i) * g.n), i < rows_of_b);
    k += next_k, from_a += next_k * of_k, from_b += std::int64_t(next_k) * g.n;
    cuda::commit_copies();
  };

  S::Stage* const begin = stages_of(warp);
  for (int i = 0; i < stages; ++i) fetch(begin[i]);
  float sum[S::rows][4] = {};
  S::Stage* stage = begin;
  for (int done = first_k; done < g.k; done += next_k) {
    if (stages == S::many_stages)
      cuda::wait_copies<S::many_stages - 1>();
    else
      cuda::wait_copies<S::few_stages - 1>();
    __syncwarp();
#pragma unroll
    for (int first = 0; first < S::depth; first += 4) {
      Words right[4];
#pragma unroll
      for (int r = 0; r < 4; ++r) right[r] = load_pack<4>(&stage->b[first + r][lane * 4]);
#pragma unroll
      for (int row = 0; row < S::rows; ++row) {
        const auto left = load_pack<4>(&stage->a[row][first]);
#pragma unroll
        for (int r = 0; r < 4; ++r)
#pragma unroll
          for (int j = 0; j < 4; ++j) sum[row][j] += left.value[r] * right[r].value[j];
      }
    }
    __syncwarp();
    fetch(*stage);
    if (++stage == begin + stages) stage = begin;
  }
  cuda::wait_copies<0>();
  __syncwarp();

#pragma unroll
  for (int row = 0; row < S::rows; ++row)
    store_pack(&sums_of(warp).of[row][lane * 4], Words{{sum[row][0], sum[row][1], sum[row][2], sum[row][3]}});
  __syncthreads();
  cuda::await_blocks();
  const auto add = [](Words& total, const Words& more) {
#pragma unroll
    for (int j = 0; j < 4; ++j) total.value[j] += more.value[j];
  };
  // Each rank completes as many rows, from the sums of all ranks in their order.
  const int own = S::rows / ranks;
#pragma unroll
  for (int row = warp; row < S::rows; row += S::warps) {
    Words total{};
#pragma unroll
    for (int w = 0; w < S::warps; ++w) add(total, load_pack<4>(&sums_of(w).of[row][lane * 4]));
    const int to = row / own;
    cuda::cluster_store(reinterpret_cast<Words*>(&of_ranks.of[rank * own + row - to * own][lane * 4]), to,
                        total);
  }
  cuda::meet_cluster();
  for (int row = warp; row < own; row += S::warps) {
    Words total{};
    for (int r = 0; r < ranks; ++r) add(total, load_pack<4>(&of_ranks.of[r * own + row][lane * 4]));
    g.put_neighbors(entry, rank * own + row, column, total);
  }
}

}  // namespace
}  // namespace kolmo
