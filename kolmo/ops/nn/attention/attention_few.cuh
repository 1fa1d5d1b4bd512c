#pragma once
// attention of a few queries that share their keys, as in decoding, at the speed of memory: f16 and bf16. Keys and
// values go straight to registers, 16 bytes of a row to a lane, as factors of products on tensor cores: scores = q K',
// and sums' = V' weights', where the order of summed indices and of columns is that in which the pieces arrive, and the
// weights are a right factor as they are. While a warp computes with the keys of a step the values are on their way,
// and the next keys while it computes with these. Anonymous namespace: see device/grid.cuh.
#include "kolmo/device/read_once.cuh"
#include "kolmo/ops/nn/attention/attention_tile.cuh"
#include "kolmo/ops/nn/attention/mma_registers.cuh"

namespace kolmo {
namespace {

/// For d <= width: keys of a warp's step. `blocks` blocks share a multiprocessor's registers.
struct FewShape {
  int width, keys, blocks;
};
constexpr FewShape few_shapes[] = {{64, 32, 3}, {128, 16, 3}, {256, 16, 2}};
constexpr int few_rows = 8, few_warps = 4, few_block = 32 * few_warps;

/// Rows of d elements, which are multiples of 16 bytes at such multiples.
template <class T, int V>
__global__ void __launch_bounds__(few_block, few_shapes[V].blocks)
    attend_few(AttentionCall<T> c, KeyParts<float> p) {
  constexpr FewShape S = few_shapes[V];
  constexpr int tiles = S.keys / 16, across = S.width / 32, halves = S.width / 64, w = pack_width<T>;
  using Piece = Pack<std::uint32_t, 4>;
  const AttentionTile tile(c, few_rows, S.keys, p.parts);
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32, high = lane / 4, wide = lane % 4,
            last_key = int(c.t) - 1, last_column = int(c.d) - w;
  const auto column = [&](int i) { return unsigned(i < last_column ? i : last_column); };

  __shared__ Piece q[2 * across][32];  // left factors, whose last 8 rows are 0
  for (int i = int(threadIdx.x); i < 32 * across; i += few_block) {
    const int row = i % 32 / 4, first = (i / 32 * 4 + i % 4) * w;
    Piece piece = {};
    if (tile.row + row < c.rows && first < c.d)
      piece = std::bit_cast<Piece>(load_pack<w>(c.q + c.query_at(tile.group, tile.row + row) + first));
    for (int j = 0; j < 2; ++j)
      q[i / 32 * 2 + j][i % 32] = {{piece.value[2 * j], 0, piece.value[2 * j + 1], 0}};
  }
  __syncthreads();

  // Beyond the last key and column are the last ones: their weights are 0, and so is q there.
  Piece k[2 * tiles][across], v[tiles][4][halves];
  const T *const keys = c.k + c.key_at(tile.group, 0), *const values = c.v + c.key_at(tile.group, 0);
  const auto row_of = [&](const T* first, int key) {
    return first + std::int64_t(unsigned(key < last_key ? key : last_key)) * c.k_row;
  };
  const auto fetch_keys = [&](int step) {
#pragma unroll
    for (int n = 0; n < 2 * tiles; ++n) {
      const T* const row = row_of(keys, step * S.keys + n * 8 + high);
#pragma unroll
      for (int i = 0; i < across; ++i) k[n][i] = cuda::read_once<4>(row + column(i * 32 + wide * w));
    }
  };
  const auto fetch_values = [&](int step) {
#pragma unroll
    for (int t = 0; t < tiles; ++t)
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        const T* const row = row_of(values, step * S.keys + t * 16 + n / 2 * 8 + wide * 2 + n % 2);
#pragma unroll
        for (int i = 0; i < halves; ++i) v[t][n][i] = cuda::read_once<4>(row + column(i * 64 + high * w));
      }
  };

  const float factor = float(c.scale * 1.4426950408889634);  // weights are powers of 2
  // sum[i]: columns 64 (i / 4) + 8 high + 2 (i % 4) of rows 2 wide and the next, and then the next column.
  float sum[4 * halves][4] = {}, most = -INFINITY, total = 0;
  int step = tile.first_step + warp;
  if (step < tile.last_step) fetch_keys(step), fetch_values(step);
#pragma unroll 1
  for (; step < tile.last_step; step += few_warps) {
    const bool more = step + few_warps < tile.last_step;
    float score[2 * tiles][4] = {};
#pragma unroll
    for (int i = 0; i < across; ++i)
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const Piece left = q[2 * i + j][lane];
#pragma unroll
        for (int n = 0; n < 2 * tiles; ++n)
          cuda::multiply_16x8x16<T>(score[n], left.value, {k[n][i].value[2 * j], k[n][i].value[2 * j + 1]});
      }
    if (more) fetch_keys(step + few_warps);

    const auto at = [&](int j) -> float& { return score[j / 2][j % 2]; };
    if (step >= tile.whole_steps)
      AttentionRow(c, tile, tile.row + high).template hide<4 * tiles>(at, [=](int j) {
        return step * S.keys + j / 2 * 8 + wide * 2 + j % 2;
      });
    const float rescaling = weigh<4 * tiles, 4>(most, total, factor, at),
                of_row[2] = {__shfl_sync(~0u, rescaling, wide * 8),
                             __shfl_sync(~0u, rescaling, wide * 8 + 4)};
#pragma unroll
    for (auto& of_columns : sum)
#pragma unroll
      for (int j = 0; j < 4; ++j) of_columns[j] *= of_row[j % 2];
#pragma unroll
    for (int t = 0; t < tiles; ++t) {
      std::uint32_t weights[2];
#pragma unroll
      for (int n = 0; n < 2; ++n)
        weights[n] = std::bit_cast<std::uint32_t>(
            narrowed<T, 2>(Pack<float, 2>{{score[2 * t + n][0], score[2 * t + n][1]}}));
#pragma unroll
      for (int i = 0; i < 4 * halves; ++i) {
        const auto of_key = [&](int n) { return v[t][n][i / 4].value[i % 4]; };
        cuda::multiply_16x8x16<T>(
            sum[i],
            {cuda::low_halves(of_key(0), of_key(1)), cuda::high_halves(of_key(0), of_key(1)),
             cuda::low_halves(of_key(2), of_key(3)), cuda::high_halves(of_key(2), of_key(3))},
            weights);
      }
    }
    if (more) fetch_values(step + few_warps);
  }

  __shared__ Pack<float, 4> sums[few_warps][few_rows][S.width / 4];
  __shared__ float tops[few_warps][few_rows], totals[few_warps][few_rows];
  total += __shfl_xor_sync(~0u, total, 1);
  total += __shfl_xor_sync(~0u, total, 2);
  if (wide == 0) tops[warp][high] = most, totals[warp][high] = total;
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int i = 0; i < 4 * halves; i += 2)
      sums[warp][wide * 2 + h][i / 4 * 16 + high * 2 + i % 4 / 2] = {
          {sum[i][h], sum[i][2 + h], sum[i + 1][h], sum[i + 1][2 + h]}};
  __syncthreads();
  for (int i = int(threadIdx.x); i < few_rows * S.width / 4; i += few_block) {
    const int row = i / (S.width / 4), pack = i % (S.width / 4);
    if (tile.row + row >= c.rows || 4 * pack >= c.d) continue;
    SumOfKeys<float, 4> all{-INFINITY};
    for (int n = 0; n < few_warps; ++n) all.add({tops[n][row], totals[n][row], sums[n][row][pack]});
    AttentionResult<T>(c, p, tile, tile.row + row, all.most, all.total, pack == 0)
        .template put<4>(4 * pack, 16, all.sum);
  }
}

}  // namespace
}  // namespace kolmo
