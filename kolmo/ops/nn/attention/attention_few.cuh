#pragma once
// attention of a few queries that share their keys, as in decoding, at the speed of memory: f16 and bf16.
// Each warp has its own ring in shared memory, into which it copies the keys and values of its next steps.
// Lanes read them back 16 bytes of a row at a time, and use these pieces as they are as factors of products
// on tensor cores: scores = q K', and sums' = V' weights'. This orders the summed indices and the columns in
// another way than the tensor cores' layout says, but in the same way for both factors. The weights need no
// rearrangement: they already are a right factor.
#include "kolmo/ops/nn/attention/attention_tile.cuh"
#include "kolmo/ops/nn/attention/mma_registers.cuh"

namespace kolmo {
namespace {

constexpr int few_rows = 8, few_warps = 4, few_block = 32 * few_warps;

/// The shape for d <= width: the number of keys in a step of a warp, and of steps that are copied ahead.
struct FewShape {
  int width, keys, stages;
  /// Pieces of 16 bytes: in a row, and in the keys (or the values) of a step.
  constexpr int across() const { return width / 8; }
  constexpr int unit() const { return keys * across(); }
  constexpr int bytes() const { return few_warps * stages * 2 * unit() * 16; }
};
constexpr FewShape few_shapes[] = {{64, 64, 3}, {128, 32, 3}, {256, 16, 3}};

/// The place of a piece among eight neighbours of its row. Pieces are permuted so that lanes which read
/// several rows at once find their pieces in different banks: four each of keys r and r + 1; two each of
/// values r, r + 2, r + 4 and r + 6.
KOLMO_HD constexpr int turned(int piece, int row) { return piece ^ (row & 6) ^ (row & 1) << 2; }

/// Rows of q, k and v begin at multiples of 16 bytes, and d elements fill whole pieces of 16 bytes.
template <class T, int V>
__global__ void __launch_bounds__(few_block, 1)
    attend_few(cuda::EarlyStart early, AttentionCall<T> c, KeyParts<float> p) {
  constexpr FewShape S = few_shapes[V];
  constexpr int tiles = S.keys / 16, across = S.width / 32, halves = S.width / 64, w = pack_width<T>,
                // Groups of copies that may be in flight while one is waited for.
      later = 2 * S.stages - 1;
  using Piece = Pack<std::uint32_t, 4>;
  const AttentionTile tile(c, few_rows, S.keys, p.parts);
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32, high = lane / 4, wide = lane % 4,
            last_key = int(c.t) - 1;

  early.wait();
  __shared__ Piece q[2 * across][32];  // left factors of 16 rows, of which the last 8 are 0
  for (int i = int(threadIdx.x); i < 32 * across; i += few_block) {
    const int row = i % 32 / 4, first = (i / 32 * 4 + i % 4) * w;
    Piece piece = {};
    if (tile.row + row < c.rows && first < c.d)
      piece = std::bit_cast<Piece>(load_pack<w>(c.q + c.query_at(tile.group, tile.row + row) + first));
    for (int j = 0; j < 2; ++j)
      q[i / 32 * 2 + j][i % 32] = {{piece.value[2 * j], 0, piece.value[2 * j + 1], 0}};
  }
  __syncthreads();

  Piece* const mine = cuda::dynamic_shared<Piece>() + warp * S.stages * 2 * S.unit();
  // Copies beyond the last key or column read the last one again. That is harmless: such keys have the weight
  // 0, and such columns of q are 0.
  const int lane_row = lane / S.across(), lane_piece = lane % S.across(),
            column = lane_piece * w < int(c.d) ? lane_piece * w : int(c.d) - w;
  const T *const keys = c.k + c.key_at(tile.group, 0) + column, *const values =
                                                                    c.v + c.key_at(tile.group, 0) + column;
  const auto fetch = [&](const T* from, int step, Piece* to) {
    if (step < tile.last_step) {
#pragma unroll
      for (int i = 0; i < S.unit() / 32; ++i) {
        const int row = i * 32 / S.across() + lane_row, key = step * S.keys + row;
        cuda::copy_async(to + row * S.across() + turned(lane_piece, row),
                         reinterpret_cast<const Piece*>(
                             from + std::int64_t(unsigned(key < last_key ? key : last_key)) * c.k_row),
                         true);
      }
    }
    cuda::commit_copies();
  };
  const auto arrived = [] {
    cuda::wait_copies<later>();
    __syncwarp();  // each lane has waited only for its own copies
  };

  const float factor = float(c.scale * 1.4426950408889634);  // weights are computed as powers of 2
  // sum[i][0] and [1] are those of rows 2 wide and 2 wide + 1 in column 64 (i / 4) + 8 high + 2 (i % 4), and
  // sum[i][2] and [3] those in the next column.
  float sum[4 * halves][4] = {}, most = -INFINITY, total = 0;
  int step = tile.first_step + warp, stage = 0;
  for (int i = 0; i < S.stages; ++i) {
    fetch(keys, step + i * few_warps, mine + i * 2 * S.unit());
    fetch(values, step + i * few_warps, mine + (i * 2 + 1) * S.unit());
  }
#pragma unroll 1
  for (; step < tile.last_step; step += few_warps) {
    Piece *const k = mine + stage * 2 * S.unit(), *const v = k + S.unit();
    stage = stage + 1 == S.stages ? 0 : stage + 1;
    float score[2 * tiles][4] = {};
    arrived();
#pragma unroll
    for (int i = 0; i < across; ++i) {
      Piece right[2 * tiles];
#pragma unroll
      for (int n = 0; n < 2 * tiles; ++n)
        right[n] = k[(n * 8 + high) * S.across() + turned(i * 4 + wide, high)];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const Piece left = q[2 * i + j][lane];
#pragma unroll
        for (int n = 0; n < 2 * tiles; ++n)
          cuda::multiply_16x8x16<T>(score[n], left.value, {right[n].value[2 * j], right[n].value[2 * j + 1]});
      }
    }
    __syncwarp();
    fetch(keys, step + S.stages * few_warps, k);

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
    arrived();
#pragma unroll
    for (int t = 0; t < tiles; ++t) {
      std::uint32_t weights[2];
#pragma unroll
      for (int n = 0; n < 2; ++n)
        weights[n] = std::bit_cast<std::uint32_t>(
            narrowed<T, 2>(Pack<float, 2>{{score[2 * t + n][0], score[2 * t + n][1]}}));
#pragma unroll
      for (int h = 0; h < halves; ++h) {
        Piece of_key[4];
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          const int row = n / 2 * 8 + wide * 2 + n % 2;
          of_key[n] = v[(t * 16 + row) * S.across() + turned(h * 8 + high, row)];
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const auto pair = [&](int n) { return of_key[n].value[i]; };
          cuda::multiply_16x8x16<T>(sum[4 * h + i],
                                    {cuda::low_halves(pair(0), pair(1)), cuda::high_halves(pair(0), pair(1)),
                                     cuda::low_halves(pair(2), pair(3)), cuda::high_halves(pair(2), pair(3))},
                                    weights);
        }
      }
    }
    __syncwarp();
    fetch(values, step + S.stages * few_warps, v);
  }

  using Sums = Pack<float, 4>[few_rows][S.width / 4];
  Sums* const sums = cuda::dynamic_shared<Sums>();  // overwrites the rings
  cuda::wait_copies<0>();
  __syncthreads();
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
