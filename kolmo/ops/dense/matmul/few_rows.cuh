#pragma once
// matmul of at most 16 rows on tensor cores: f16 or bf16 factors, sums in f32. Its time is that of reading b.
// Therefore b is read from memory directly into the registers in which the products take it, one step ahead. A block
// computes 32 columns of y; its warps share out the steps through k and add their sums in shared memory.
#include "kolmo/device/mma.cuh"
#include "kolmo/device/read_once.cuh"
#include "kolmo/device/spread.cuh"
#include "kolmo/ops/dense/matmul/launches.cuh"

namespace kolmo {
namespace {

struct FewRows {
  static constexpr int rows = 16, columns = 32, depth = 32, warps = 16;
  static constexpr StepTime step{0.1, 0.1};
};

/// a(row, k) of a batch entry is at a[row * of_row + k * of_k]. packs_a: 8 neighbours along k are 16 bytes at
/// a multiple of 16. In a warp, thread 4 g + t has columns 4 g to 4 g + 3 and the summed indices 8 t to 8
/// t + 7 of a step. These are not the indices that the tensor cores' layout asks for, but the order of
/// summation does not matter as long as a and b agree.
template <class T, bool TurnedB>
__global__ void __launch_bounds__(FewRows::warps * 32, 1)
    few_rows(cuda::EarlyStart early, Gemm<T> g, bool packs_a, std::int64_t of_row, std::int64_t of_k) {
  using S = FewRows;
  using Words = Pack<std::uint32_t, 4>;
  constexpr int own = S::columns / 8;
  __shared__ float sums[S::warps][S::rows][S::columns + 4];
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32, group = lane / 4, quad = lane % 4;
  const unsigned strips = unsigned(g.n + S::columns - 1) / S::columns, entry = blockIdx.x / strips;
  const int first = int(blockIdx.x - entry * strips) * S::columns, column = first + group * own;
  const std::int64_t size = std::int64_t(g.k) * g.n;
  const T *const a = g.a + entry * std::int64_t(g.m) * g.k, *const b = g.b + entry * size;

  Words left[2], right[own];
  const auto load = [&](int step) {
    const int k = step * S::depth + quad * 8;
    if constexpr (TurnedB) {
#pragma unroll
      for (int j = 0; j < own; ++j)
        right[j] = k < g.k && column + j < g.n ? cuda::read_once<4>(b + std::int64_t(column + j) * g.k + k)
                                               : Words{};
    } else {
#pragma unroll
      for (int r = 0; r < 8; ++r) {
        Pack<std::uint32_t, own / 2> row{};
        if (k + r < g.k && column < g.n)
          row = cuda::read_once<own / 2>(b + std::int64_t(k + r) * g.n + column);
#pragma unroll
        for (int w = 0; w < own / 2; ++w) right[r / 2].value[r % 2 * 2 + w] = row.value[w];
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = group + 8 * half;
      left[half] = {};
      if (row >= g.m || k >= g.k) continue;
      if (packs_a) {
        left[half] = load_pack<4>(reinterpret_cast<const std::uint32_t*>(a + row * of_row + k));
        continue;
      }
      Pack<T, 8> elements;
#pragma unroll
      for (int i = 0; i < 8; ++i)
        elements.value[i] = k + i < g.k ? a[row * of_row + (k + i) * of_k] : T(0.0f);
      left[half] = std::bit_cast<Words>(elements);
    }
  };
  /// The word of b that holds the elements of column j at this thread's summed indices 2 i and 2 i + 1.
  const auto word = [&](int j, int i) {
    if constexpr (TurnedB) return right[j].value[i];
    return __byte_perm(right[i].value[j / 2], right[i].value[2 + j / 2], j % 2 ? 0x7632 : 0x5410);
  };

  float sum[own][4] = {};
  const int steps = (g.k + S::depth - 1) / S::depth;
  early.wait();
  load(warp);
  for (int step = warp; step < steps; step += S::warps) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t l[4] = {left[0].value[2 * half], left[1].value[2 * half],
                                  left[0].value[2 * half + 1], left[1].value[2 * half + 1]};
#pragma unroll
      for (int j = 0; j < own; ++j)
        cuda::multiply_16x8x16<T>(sum[j], l, {word(j, 2 * half), word(j, 2 * half + 1)});
    }
    load(step + S::warps);
  }

#pragma unroll
  for (int j = 0; j < own; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e) sums[warp][group + 8 * (e / 2)][(2 * quad + e % 2) * own + j] = sum[j][e];
  __syncthreads();
  static_assert(S::rows * S::columns == S::warps * 32);
  const int row = warp, c = lane;
  float total = 0;
#pragma unroll
  for (int w = 0; w < S::warps; ++w) total += sums[w][row][c];
  g.put(0, entry, row, first + c, total);
}

}  // namespace
}  // namespace kolmo
