#pragma once
// matmul of at most 16 rows in f32. It takes as long as reading b, so b goes from memory to registers, three steps ahead.
// A block computes 32 columns of y; its warps share out the steps through k, and the quads of a warp those of a step, and
// add their sums. Anonymous namespace: see device/grid.cuh.
#include <bit>
#include <type_traits>

#include "kolmo/device/async.cuh"
#include "kolmo/device/read_once.cuh"
#include "kolmo/ops/dense/matmul/launches.cuh"

namespace kolmo {
namespace {

struct FewRowsF32 {
  static constexpr int rows = 16, columns = 32, depth = 32, warps = 8, stages = 3;
  static constexpr StepTime step{0.2, 0.2};
  static constexpr std::int64_t most_k =
      limit - (stages + 2) * warps * depth;  ///< for indices of steps beyond the end
};

/// Of shared memory: some steps' elements of a of each warp, and after these the sums of the warps.
union FewRowsF32Space {
  alignas(16) float a[FewRowsF32::warps][FewRowsF32::stages][FewRowsF32::rows][FewRowsF32::depth];
  float sums[FewRowsF32::warps][FewRowsF32::rows][FewRowsF32::columns + 4];
};

/// a(row, k) of an entry is at a[row * of_row + k * of_k], with PacksA of_k = 1 and rows at multiples of 16 bytes.
/// A thread has columns 4 c to 4 c + 3 and the summed indices 4 q to 4 q + 3 of each half of a step: quad q of 4, place c
/// of 8 in it. Eight threads in a row read one row of b or, turned, from two columns.
template <bool PacksA, bool TurnedB>
__global__ void __launch_bounds__(FewRowsF32::warps * 32, 1)
    few_rows_f32(Gemm<float> g, std::int64_t of_row, std::int64_t of_k) {
  using S = FewRowsF32;
  using Words = Pack<float, 4>;
  FewRowsF32Space& space = *cuda::dynamic_shared<FewRowsF32Space>();
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  const int quad = TurnedB ? lane % 4 : lane / 8, place = TurnedB ? lane / 4 : lane % 8;
  constexpr int next_quad = TurnedB ? 1 : 8;  // how many lanes on
  const unsigned strips = unsigned(g.n + S::columns - 1) / S::columns, entry = blockIdx.x / strips;
  const int first = int(blockIdx.x - entry * strips) * S::columns, column = first + place * 4;
  const float* const a = g.a + entry * std::int64_t(g.m) * g.k;
  const float* const b = g.b + entry * std::int64_t(g.k) * g.n;

  using Copied = std::conditional_t<PacksA, Words, float>;
  constexpr int width = sizeof(Copied) / sizeof(float), across = S::depth / width, at_once = 32 / across;
  const int row = lane / across, at = lane % across * width;
  int k_of_a = warp * S::depth + at;
  const float* from_a = a + row * of_row + k_of_a * of_k;
  const auto fetch_a = [&](int stage) {
    const int rows = k_of_a < g.k ? g.m : 0;
#pragma unroll
    for (int i = 0; i < S::rows; i += at_once) {
      const bool there = row + i < rows;
      cuda::copy_async(reinterpret_cast<Copied*>(&space.a[warp][stage][row + i][at]),
                       reinterpret_cast<const Copied*>(there ? from_a + i * of_row : a), there);
    }
    k_of_a += S::warps * S::depth, from_a += S::warps * S::depth * of_k;
    cuda::commit_copies();
  };
  // The next of b to read: a row, or turned a column, of this thread, and how far the next one is.
  const std::int64_t next = TurnedB ? g.k : g.n, along = TurnedB ? 1 : g.n;
  int k = warp * S::depth + quad * 4;
  const float* from = b + (TurnedB ? std::int64_t(column) * g.k + k : std::int64_t(k) * g.n + column);
  constexpr int of_half = S::depth / 2;
  Words right[S::stages][8];
  /// Reads of b what this thread multiplies in a step, four summed indices at a time: of each a row or, turned, of each column.
  const auto load = [&](int stage) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int first_k = k + half * of_half,
                left = TurnedB ? (first_k < g.k ? g.n - column : 0) : (column < g.n ? g.k - first_k : 0);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        right[stage][half * 4 + j] =
            j < left ? std::bit_cast<Words>(cuda::read_once<4>(from + half * of_half * along + j * next))
                     : Words{};
    }
    k += S::warps * S::depth, from += S::warps * S::depth * along;
  };

  float sum[S::rows][4] = {};
  const auto multiply = [&](int stage) {
    cuda::wait_copies<S::stages - 1>();
    __syncwarp();
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int row = 0; row < S::rows; ++row) {
        const auto left = load_pack<4>(&space.a[warp][stage][row][half * of_half + quad * 4]);
#pragma unroll
        for (int r = 0; r < 4; ++r)
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            const Words& pack = right[stage][half * 4 + (TurnedB ? j : r)];
            sum[row][j] += left.value[r] * pack.value[TurnedB ? r : j];
          }
      }
    __syncwarp();
    fetch_a(stage), load(stage);
  };
  const int steps = (g.k + S::depth - 1) / S::depth;
#pragma unroll
  for (int stage = 0; stage < S::stages; ++stage) fetch_a(stage), load(stage);
  for (int step = warp; step < steps; step += S::stages * S::warps)
#pragma unroll
    for (int stage = 0; stage < S::stages; ++stage)
      if (step + stage * S::warps < steps) multiply(stage);
  cuda::wait_copies<0>();

  /// Of the rows that two quads have, each goes on with half.
  const auto add_quads = [&]<int Kept, int Other> {
    const bool upper = quad & Other;
#pragma unroll
    for (int row = 0; row < Kept; ++row)
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float low = sum[row][j], high = sum[row + Kept][j];
        sum[row][j] = (upper ? high : low) + __shfl_xor_sync(~0u, upper ? low : high, Other * next_quad);
      }
  };
  add_quads.template operator()<S::rows / 2, 2>();
  add_quads.template operator()<S::rows / 4, 1>();
  __syncthreads();
#pragma unroll
  for (int row = 0; row < S::rows / 4; ++row)
    store_pack(&space.sums[warp][quad * (S::rows / 4) + row][column - first],
               Words{{sum[row][0], sum[row][1], sum[row][2], sum[row][3]}});
  __syncthreads();
  for (int i = warp; i < S::rows; i += S::warps) {
    float total = 0;
#pragma unroll
    for (int w = 0; w < S::warps; ++w) total += space.sums[w][i][lane];
    g.put(0, entry, i, first + lane, total);
  }
}

}  // namespace
}  // namespace kolmo
