#pragma once
// matmul of at most 16 rows in f32, b transposed. It takes as long as reading b, so b goes from memory to registers, two
// steps ahead. A block computes 32 columns of y; its warps share out the steps through k, and the quads of a warp those of
// a step, and add their sums. Anonymous namespace: see device/grid.cuh.
#include <bit>
#include <type_traits>

#include "kolmo/device/async.cuh"
#include "kolmo/device/read_once.cuh"
#include "kolmo/ops/dense/matmul/launches.cuh"

namespace kolmo {
namespace {

struct TurnedFewRowsF32 {
  static constexpr int rows = 16, columns = 32, depth = 32, warps = 8;
  static constexpr StepTime step{0.2, 0.2};
  static constexpr std::int64_t most_k = limit - 4 * warps * depth;  ///< for indices of steps beyond the end
};

/// Of shared memory: two steps' elements of a of each warp, and after these the sums of the warps.
union TurnedFewRowsF32Space {
  alignas(16) float a[TurnedFewRowsF32::warps][2][TurnedFewRowsF32::rows][TurnedFewRowsF32::depth];
  float sums[TurnedFewRowsF32::warps][TurnedFewRowsF32::rows][TurnedFewRowsF32::columns + 4];
};

/// a(row, k) of an entry is at a[row * of_row + k * of_k], with PacksA of_k = 1 and rows at multiples of 16 bytes.
/// In a warp, thread 4 g + t has columns 4 g to 4 g + 3 and the summed indices 4 t to 4 t + 3 of each half of a step.
template <bool PacksA>
__global__ void __launch_bounds__(TurnedFewRowsF32::warps * 32, 1)
    turned_few_rows_f32(Gemm<float> g, std::int64_t of_row, std::int64_t of_k) {
  using S = TurnedFewRowsF32;
  using Words = Pack<float, 4>;
  TurnedFewRowsF32Space& space = *cuda::dynamic_shared<TurnedFewRowsF32Space>();
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32, quad = lane % 4;
  const unsigned strips = unsigned(g.n + S::columns - 1) / S::columns, entry = blockIdx.x / strips;
  const int first = int(blockIdx.x - entry * strips) * S::columns, column = first + lane / 4 * 4;
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
  int k = warp * S::depth + quad * 4;
  const float* from = b + std::int64_t(column) * g.k + k;
  constexpr int of_half = S::depth / 2;
  Words right[2][8];  // of two steps
  /// Reads of b what this thread multiplies in a step, four summed indices of each column at a time.
  const auto load = [&](int stage) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int left = k + half * of_half < g.k ? g.n - column : 0;
#pragma unroll
      for (int j = 0; j < 4; ++j)
        right[stage][half * 4 + j] =
            j < left ? std::bit_cast<Words>(cuda::read_once<4>(from + half * of_half + std::int64_t(j) * g.k))
                     : Words{};
    }
    k += S::warps * S::depth, from += S::warps * S::depth;
  };

  float sum[S::rows][4] = {};
  const auto multiply = [&](int stage) {
    cuda::wait_copies<1>();
    __syncwarp();
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int row = 0; row < S::rows; ++row) {
        const auto left = load_pack<4>(&space.a[warp][stage][row][half * of_half + quad * 4]);
#pragma unroll
        for (int r = 0; r < 4; ++r)
#pragma unroll
          for (int j = 0; j < 4; ++j) sum[row][j] += left.value[r] * right[stage][half * 4 + j].value[r];
      }
    __syncwarp();
    fetch_a(stage), load(stage);
  };
  const int steps = (g.k + S::depth - 1) / S::depth;
  fetch_a(0), load(0), fetch_a(1), load(1);
  for (int step = warp; step < steps; step += 2 * S::warps) {
    multiply(0);
    if (step + S::warps < steps) multiply(1);
  }
  cuda::wait_copies<0>();

  /// Of the rows that two quads have, each goes on with half.
  const auto add_quads = [&]<int Kept, int Other> {
    const bool upper = quad & Other;
#pragma unroll
    for (int row = 0; row < Kept; ++row)
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float low = sum[row][j], high = sum[row + Kept][j];
        sum[row][j] = (upper ? high : low) + __shfl_xor_sync(~0u, upper ? low : high, Other);
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
