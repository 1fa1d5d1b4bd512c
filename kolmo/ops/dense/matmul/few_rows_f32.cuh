#pragma once
// matmul of at most 16 rows in f32. Its time is that of reading b, which is copied to shared memory some
// steps ahead: copies complete in order, whereas ptxas makes a read into registers wait for all others. A
// block computes 32 columns of y. Its warps share out the steps through k. The quads of a warp (four groups
// of eight threads) share out the indices of a step and add their sums.
#include <bit>
#include <type_traits>

#include "kolmo/device/async.cuh"
#include "kolmo/device/spread.cuh"
#include "kolmo/ops/dense/matmul/launches.cuh"

namespace kolmo {
namespace {

struct FewRowsF32 {
  static constexpr int rows = 16, columns = 32, depth = 32, warps = 8;
  static constexpr int many_stages = 4, few_stages = 2;  ///< for 192 KB and for 96 KB of shared memory
  static constexpr StepTime step{0.2, 0.2};
  /// Indices of steps beyond the end of k must not overflow.
  static constexpr std::int64_t most_k = limit - (many_stages + 2) * warps * depth;
};

/// One step of a warp: elements of a, and those of b, which each thread reads back itself.
struct FewRowsF32Stage {
  alignas(16) float a[FewRowsF32::rows][FewRowsF32::depth];
  Pack<float, 4> b[8][32];
};
/// The sums of the warps, which overwrite the stages.
using FewRowsF32Sums = float[FewRowsF32::warps][FewRowsF32::rows][FewRowsF32::columns + 4];
constexpr std::size_t few_rows_bytes(int stages) {
  return std::size_t(FewRowsF32::warps) * std::size_t(stages) * sizeof(FewRowsF32Stage);
}
static_assert(sizeof(FewRowsF32Sums) <= few_rows_bytes(FewRowsF32::few_stages));

/// a(row, k) of a batch entry is at a[row * of_row + k * of_k]; with PacksA of_k is 1 and rows begin at
/// multiples of 16 bytes. A thread is the c-th of the eight in quad q of 4. It has columns 4 c to 4 c + 3 and
/// the summed indices 4 q to 4 q + 3 of each half of a step. Eight threads in a row read one row of b or, if
/// b is transposed (TurnedB), from two columns.
template <bool PacksA, bool TurnedB>
__global__ void __launch_bounds__(FewRowsF32::warps * 32, 1)
    few_rows_f32(cuda::EarlyStart early, Gemm<float> g, std::int64_t of_row, std::int64_t of_k, int stages) {
  using S = FewRowsF32;
  using Words = Pack<float, 4>;
  using Stage = FewRowsF32Stage;
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  const int quad = TurnedB ? lane % 4 : lane / 8, place = TurnedB ? lane / 4 : lane % 8;
  constexpr int next_quad = TurnedB ? 1 : 8;  // distance of quads, in lanes
  const unsigned strips = unsigned(g.n + S::columns - 1) / S::columns, entry = blockIdx.x / strips;
  const int first = int(blockIdx.x - entry * strips) * S::columns, column = first + place * 4;
  const float* const a = g.a + entry * std::int64_t(g.m) * g.k;
  const float* const b = g.b + entry * std::int64_t(g.k) * g.n;

  using Copied = std::conditional_t<PacksA, Words, float>;
  constexpr int width = sizeof(Copied) / sizeof(float), across = S::depth / width, at_once = 32 / across;
  const int row = lane / across, at = lane % across * width;
  int k_of_a = warp * S::depth + at;
  const float* from_a = a + row * of_row + k_of_a * of_k;
  const auto fetch_a = [&](Stage& stage) {
    const int rows = k_of_a < g.k ? g.m : 0;
#pragma unroll
    for (int i = 0; i < S::rows; i += at_once)
      cuda::copy_async(reinterpret_cast<Copied*>(&stage.a[row + i][at]),
                       reinterpret_cast<const Copied*>(from_a + i * of_row), row + i < rows);
    k_of_a += S::warps * S::depth, from_a += S::warps * S::depth * of_k;
  };
  // `from` is where this thread reads b next: 4 elements of a row or, if b is transposed, of a column. `next`
  // is the distance to the next such row or column, `along` that of the next summed index.
  const std::int64_t next = TurnedB ? g.k : g.n, along = TurnedB ? 1 : g.n;
  int k = warp * S::depth + quad * 4;
  const float* from = b + (TurnedB ? std::int64_t(column) * g.k + k : std::int64_t(k) * g.n + column);
  constexpr int of_half = S::depth / 2;
  /// Copies what this thread multiplies of b in a step: for each half four packs, one for each summed index
  /// or, if b is transposed, for each column.
  const auto fetch_b = [&](Stage& stage) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int first_k = k + half * of_half,
                left = TurnedB ? (first_k < g.k ? g.n - column : 0) : (column < g.n ? g.k - first_k : 0);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float* const words = from + half * of_half * along + j * next;
        cuda::copy_async(&stage.b[half * 4 + j][lane], reinterpret_cast<const Words*>(words), j < left);
      }
    }
    k += S::warps * S::depth, from += S::warps * S::depth * along;
    cuda::commit_copies();
  };

  float sum[S::rows][4] = {};
  const auto multiply = [&](Stage& stage) {
    if (stages == S::many_stages)
      cuda::wait_copies<S::many_stages - 1>();
    else
      cuda::wait_copies<S::few_stages - 1>();
    __syncwarp();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      Words right[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) right[j] = stage.b[half * 4 + j][lane];
#pragma unroll
      for (int row = 0; row < S::rows; ++row) {
        const auto left = load_pack<4>(&stage.a[row][half * of_half + quad * 4]);
#pragma unroll
        for (int r = 0; r < 4; ++r)
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            sum[row][j] += left.value[r] * right[TurnedB ? j : r].value[TurnedB ? r : j];
          }
      }
    }
    __syncwarp();
    fetch_a(stage), fetch_b(stage);
  };
  const int steps = (g.k + S::depth - 1) / S::depth;
  Stage* const begin = cuda::dynamic_shared<Stage>() + warp * stages;
  early.wait();
  for (int i = 0; i < stages; ++i) fetch_a(begin[i]), fetch_b(begin[i]);
  Stage* now = begin;
  for (int step = warp; step < steps; step += S::warps) {
    multiply(*now);
    if (++now == begin + stages) now = begin;
  }
  cuda::wait_copies<0>();

  /// Adds the sums of two quads: each of the two goes on with half of their rows.
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
  FewRowsF32Sums& sums = *cuda::dynamic_shared<FewRowsF32Sums>();
  __syncthreads();
#pragma unroll
  for (int row = 0; row < S::rows / 4; ++row)
    store_pack(&sums[warp][quad * (S::rows / 4) + row][column - first],
               Words{{sum[row][0], sum[row][1], sum[row][2], sum[row][3]}});
  __syncthreads();
  for (int i = warp; i < S::rows; i += S::warps) {
    float total = 0;
#pragma unroll
    for (int w = 0; w < S::warps; ++w) total += sums[w][i][lane];
    g.put(0, entry, i, first + lane, total);
  }
}

}  // namespace
}  // namespace kolmo
