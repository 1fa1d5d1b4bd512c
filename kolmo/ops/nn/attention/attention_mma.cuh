#pragma once
// attention on tensor cores: f16 and bf16. A warp has up to 32 rows; scores, weights and sums of values stay in its
// registers, and the weights of a step are the left operand of the product with the values. The values of a step
// arrive while its scores are computed, and the next keys while its values are multiplied.
// Method: Dao 2023 (FlashAttention-2).
#include "kolmo/ops/nn/attention/attention_tile.cuh"
#include "kolmo/ops/nn/attention/mma_registers.cuh"

namespace kolmo {
namespace {

constexpr int mma_block = 128;

/// The shape for d <= width: each of four warps has 16 `tall` rows, and a step has `keys` keys.
struct MmaShape {
  int width, tall, keys;
  constexpr int rows() const { return mma_block / 2 * tall; }
  constexpr int stride() const { return width + 8; }  // puts the rows of an 8x8 tile in different banks
  constexpr int bytes() const { return (rows() + 2 * keys) * stride() * 2; }
};
constexpr MmaShape mma_shapes[] = {{64, 2, 64}, {128, 2, 32}, {256, 1, 32}};

template <class T, int V>
__global__ void __launch_bounds__(mma_block, 2) attend_mma(AttentionCall<T> c, KeyParts<float> p, int unit) {
  constexpr MmaShape S = mma_shapes[V];
  constexpr int tall = S.tall, stride = S.stride(), depth = S.width / 16, across = S.width / 8,
                scores = S.keys / 8;
  T* const q = cuda::dynamic_shared<T>();
  T *const k = q + S.rows() * stride, *const v = k + S.keys * stride;
  const AttentionTile tile(c, S.rows(), S.keys, p.parts);
  const int lane = int(threadIdx.x) % 32, first = int(threadIdx.x) / 32 * 16 * tall;
  const bool active = tile.row + first < c.rows;  // the same in all lanes of a warp

  fetch_rows<S.rows(), S.width, stride, mma_block>(q, c.d, unit, [&](int r) {
    return tile.row + r < c.rows ? c.q + c.query_at(tile.group, tile.row + r) : nullptr;
  });
  const std::int64_t of_group = c.key_at(tile.group, 0);
  const auto fetch = [&](T* to, const T* from, int step) {
    fetch_step<S.keys, S.width, stride, mma_block>(to, c, tile, from + of_group, step, unit);
  };
  fetch(k, c.k, tile.first_step);

  const float factor = float(c.scale * 1.4426950408889634);  // weights are computed as powers of 2
  float sum[tall][across][4] = {}, most[tall][2], total[tall][2] = {};
#pragma unroll
  for (int i = 0; i < tall; ++i) most[i][0] = most[i][1] = -INFINITY;

  for (int step = tile.first_step; step < tile.last_step; ++step) {
    cuda::wait_copies<0>();
    __syncthreads();
    fetch(v, c.v, step);
    float score[tall][scores][4] = {};
    if (active) {
#pragma unroll
      for (int e = 0; e < depth; ++e) {
        std::uint32_t left[tall][4], right[4];
#pragma unroll
        for (int i = 0; i < tall; ++i)
          cuda::load_left(left[i], q + (first + 16 * i) * stride + 16 * e, stride, lane);
#pragma unroll
        for (int n = 0; n < scores; n += 2) {
          cuda::load_right_columns(right, k + n * 8 * stride + 16 * e, stride, lane);
#pragma unroll
          for (int i = 0; i < tall; ++i) {
            cuda::multiply_16x8x16<T>(score[i][n], left[i], {right[0], right[1]});
            cuda::multiply_16x8x16<T>(score[i][n + 1], left[i], {right[2], right[3]});
          }
        }
      }
    }
    cuda::wait_copies<0>();
    __syncthreads();
    fetch(k, c.k, step + 1);
    if (!active) continue;

#pragma unroll
    for (int i = 0; i < tall; ++i)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const auto at = [&](int j) -> float& { return score[i][j / 2][2 * h + j % 2]; };
        if (step >= tile.whole_steps)
          AttentionRow(c, tile, tile.row + first + 16 * i + 8 * h + lane / 4)
              .template hide<2 * scores>(
                  at, [=](int j) { return step * S.keys + j / 2 * 8 + lane % 4 * 2 + j % 2; });
        const float rescaling = weigh<2 * scores, 4>(most[i][h], total[i][h], factor, at);
#pragma unroll
        for (int n = 0; n < across; ++n) sum[i][n][2 * h] *= rescaling, sum[i][n][2 * h + 1] *= rescaling;
      }
#pragma unroll
    for (int e = 0; e < scores / 2; ++e) {
      std::uint32_t left[tall][4], right[4];
#pragma unroll
      for (int i = 0; i < tall; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const float* const pair = score[i][2 * e + j / 2] + j % 2 * 2;
          left[i][j] = std::bit_cast<std::uint32_t>(narrowed<T, 2>(Pack<float, 2>{{pair[0], pair[1]}}));
        }
#pragma unroll
      for (int n = 0; n < across; n += 2) {
        cuda::load_right_rows(right, v + 16 * e * stride + 8 * n, stride, lane);
#pragma unroll
        for (int i = 0; i < tall; ++i) {
          cuda::multiply_16x8x16<T>(sum[i][n], left[i], {right[0], right[1]});
          cuda::multiply_16x8x16<T>(sum[i][n + 1], left[i], {right[2], right[3]});
        }
      }
    }
  }
  cuda::wait_copies<0>();

#pragma unroll
  for (int i = 0; i < tall; ++i)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float all = total[i][h];
      all += __shfl_xor_sync(~0u, all, 1);
      all += __shfl_xor_sync(~0u, all, 2);
      const int row = tile.row + first + 16 * i + 8 * h + lane / 4;
      if (row >= c.rows) continue;
      const AttentionResult<T> result(c, p, tile, row, most[i][h], all, lane % 4 == 0);
#pragma unroll
      for (int n = 0; n < across; ++n)
        result.template put<2>(8 * n + lane % 4 * 2, unit,
                               Pack<float, 2>{{sum[i][n][2 * h], sum[i][n][2 * h + 1]}});
    }
}

}  // namespace
}  // namespace kolmo
