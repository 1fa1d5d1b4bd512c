#pragma once
// matmul of at most 16 rows in f32. It takes as long as reading b, so b goes from memory to registers, half a step ahead.
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
  static constexpr int rows = 16, columns = 32, depth = 32, warps = 12;
  static constexpr StepTime step{0.16, 0.16};
};

/// Of shared memory: two steps' elements of a of each warp, and after these the sums of the warps.
union FewRowsF32Space {
  alignas(16) float a[FewRowsF32::warps][2][FewRowsF32::rows][FewRowsF32::depth];
  float sums[FewRowsF32::warps][FewRowsF32::rows][FewRowsF32::columns + 4];
};

/// a(row, k) of an entry is at a[row * of_row + k * of_k], with PacksA of_k = 1 and rows at multiples of 16 bytes.
/// In a warp, thread 4 g + t has columns 4 g to 4 g + 3 and the summed indices 8 t to 8 t + 7 of a step.
template <bool PacksA, bool TurnedB>
__global__ void __launch_bounds__(FewRowsF32::warps * 32, 1)
    few_rows_f32(Gemm<float> g, std::int64_t of_row, std::int64_t of_k) {
  using S = FewRowsF32;
  using Words = Pack<float, 4>;
  FewRowsF32Space& space = *cuda::dynamic_shared<FewRowsF32Space>();
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32, quad = lane % 4;
  const unsigned strips = unsigned(g.n + S::columns - 1) / S::columns, entry = blockIdx.x / strips;
  const int first = int(blockIdx.x - entry * strips) * S::columns, column = first + lane / 4 * 4;
  const float *const a = g.a + entry * std::int64_t(g.m) * g.k, *const b =
                                                                    g.b + entry * std::int64_t(g.k) * g.n;

  using Copied = std::conditional_t<PacksA, Words, float>;
  constexpr int width = sizeof(Copied) / sizeof(float);
  const int row = lane / 2, of_half = lane % 2 * (S::depth / 2);
  int k_of_a = warp * S::depth + of_half;
  const float* from_a = a + (row < g.m ? row * of_row + k_of_a * of_k : 0);
  const auto fetch_a = [&](int stage) {
    float* const to = &space.a[warp][stage][row][of_half];
    const int left = row < g.m ? g.k - k_of_a : 0;
#pragma unroll
    for (int i = 0; i < S::depth / 2; i += width)
      cuda::copy_async(reinterpret_cast<Copied*>(to + i),
                       reinterpret_cast<const Copied*>(i < left ? from_a + i * of_k : a), i < left);
    k_of_a += S::warps * S::depth, from_a += S::warps * S::depth * of_k;
    cuda::commit_copies();
  };
  // The next of b to read: a row, or turned a column, of this thread, and how far the next one is.
  const std::int64_t next = TurnedB ? g.k : g.n, along = TurnedB ? 1 : g.n;
  int k = warp * S::depth + quad * 8;
  const float* from = b + (TurnedB ? std::int64_t(column) * g.k + k : std::int64_t(k) * g.n + column);
  Words right[2][4];
  /// Reads a row of b each or, turned, of a column each, for four summed indices, of which the next are `further` away.
  const auto load = [&](int half, int further) {
    const int left = TurnedB ? (k < g.k ? g.n - column : 0) : (column < g.n ? g.k - k : 0);
#pragma unroll
    for (int j = 0; j < 4; ++j)
      right[half][j] = j < left ? std::bit_cast<Words>(cuda::read_once<4>(from + j * next)) : Words{};
    k += further, from += further * along;
  };

  float sum[S::rows][4] = {};
  const int steps = (g.k + S::depth - 1) / S::depth;
  fetch_a(0);
  constexpr int to_other_half = 4, to_next_step = S::warps * S::depth - to_other_half;
  load(0, to_other_half), load(1, to_next_step);
  int stage = 0;
  for (int step = warp; step < steps; step += S::warps, stage ^= 1) {
    fetch_a(stage ^ 1);
    cuda::wait_copies<1>();
    __syncwarp();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int row = 0; row < S::rows; ++row) {
        const auto left = load_pack<4>(&space.a[warp][stage][row][quad * 8 + half * 4]);
#pragma unroll
        for (int r = 0; r < 4; ++r)
#pragma unroll
          for (int j = 0; j < 4; ++j)
            sum[row][j] += left.value[r] * (TurnedB ? right[half][j].value[r] : right[half][r].value[j]);
      }
      load(half, half ? to_next_step : to_other_half);
    }
    __syncwarp();
  }
  cuda::wait_copies<0>();

  const auto add_quads =
      [&]<int Kept, int Other> {  // of the rows that two quads have, each goes on with half
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
