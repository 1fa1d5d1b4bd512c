#pragma once
// attention on the ordinary cores: f32 and f64. A block's 256 threads are 32 x 8: thread (y, x) has the
// scores of rows y, y + 32, ... and keys x, x + 8, ..., and of the same rows every 8th pack of the sum of
// values. A warp is 4 x 8 of these threads. Its lanes are ordered so that lanes which differ in bit 0 have
// the same x, and lanes which differ in bit 1 the same y: a GPU then reads packs of 16 bytes from shared
// memory in half the time.
#include "kolmo/ops/nn/attention/attention_tile.cuh"

namespace kolmo {
namespace {

/// The shape for d <= width: the number of rows of a block, and of keys in a step.
struct AttentionTileShape {
  int width, rows, keys, blocks;
  template <class T>
  constexpr int stride() const {
    return width + pack_width<T>;
  }
  template <class T>
  constexpr int weights_stride() const {
    return keys + pack_width<T>;
  }
  template <class T>
  constexpr int bytes() const {
    return int(sizeof(T)) * ((rows + 2 * keys) * stride<T>() + rows * weights_stride<T>());
  }
};
// The shapes from number few_tile_shapes on are for few rows.
constexpr AttentionTileShape tile_shapes_f32[] = {{64, 128, 64, 2},
                                                  {128, 64, 32, 2},
                                                  {256, 32, 32, 2},
                                                  {64, 32, 64, 2},
                                                  {128, 32, 32, 3}},
                             tile_shapes_f64[] = {
                                 {64, 64, 32, 2}, {128, 32, 32, 2}, {256, 32, 16, 1}, {64, 32, 32, 2}};
constexpr int tile_block = 256, few_tile_shapes = 3;
template <class T, int V>
constexpr AttentionTileShape attention_tile_shape = sizeof(T) == 4 ? tile_shapes_f32[V] : tile_shapes_f64[V];

template <class T, int V>
__global__ void __launch_bounds__(tile_block, attention_tile_shape<T, V>.blocks)
    attend_tiles(AttentionCall<T> c, KeyParts<T> p, int unit) {
  constexpr AttentionTileShape S = attention_tile_shape<T, V>;
  constexpr int w = pack_width<T>, stride = S.template stride<T>(),
                weights_stride = S.template weights_stride<T>(), high = S.rows / 32, wide = S.keys / 8,
                across = S.width / (8 * w);
  T* const q = cuda::dynamic_shared<T>();
  T *const k = q + S.rows * stride, *const v = k + S.keys * stride, *const weights = v + S.keys * stride;
  const AttentionTile tile(c, S.rows, S.keys, p.parts);
  const int x = int(threadIdx.x) / 2 % 8, y = int(threadIdx.x) % 2 + int(threadIdx.x) / 16 * 2;

  fetch_rows<S.rows, S.width, stride, tile_block>(q, c.d, unit, [&](int r) {
    return tile.row + r < c.rows ? c.q + c.query_at(tile.group, tile.row + r) : nullptr;
  });
  const std::int64_t of_group = c.key_at(tile.group, 0);
  const auto fetch = [&](T* to, const T* from, int step) {
    fetch_step<S.keys, S.width, stride, tile_block>(to, c, tile, from + of_group, step, unit);
  };
  fetch(k, c.k, tile.first_step);

  const T factor = T(c.scale * 1.4426950408889634);  // weights are computed as powers of 2
  // A block of few rows does not last long enough to make up for products beyond the last column, key and
  // row, so it leaves them out.
  constexpr bool exact = S.rows == 32;
  const int of_warp = int(threadIdx.x) / 32 * 4;  // the first row of this warp
  const bool active = !exact || tile.row + of_warp < c.rows;
  const int width = exact ? (int(c.d) + w - 1) / w * w : S.width;
  T sum[high][across][w] = {}, most[high], total[high] = {};
#pragma unroll
  for (int i = 0; i < high; ++i) most[i] = T(-INFINITY);

  for (int step = tile.first_step; step < tile.last_step; ++step) {
    cuda::wait_copies<0>();
    __syncthreads();
    fetch(v, c.v, step);
    if (active) {
      T score[high][wide] = {};
#pragma unroll 2
      for (int e = 0; e < width; e += w) {
        Pack<T, w> left[high];
#pragma unroll
        for (int i = 0; i < high; ++i) left[i] = load_pack<w>(q + (y + 32 * i) * stride + e);
#pragma unroll
        for (int j = 0; j < wide; ++j) {
          const auto right = load_pack<w>(k + (x + 8 * j) * stride + e);
#pragma unroll
          for (int n = 0; n < w; ++n)
#pragma unroll
            for (int i = 0; i < high; ++i) score[i][j] += left[i].value[n] * right.value[n];
        }
      }
#pragma unroll
      for (int i = 0; i < high; ++i) {
        const auto at = [&](int j) -> T& { return score[i][j]; };
#pragma unroll
        for (int j = 0; j < wide; ++j) at(j) = exact_mul(at(j), factor);
        if (step >= tile.whole_steps)
          AttentionRow(c, tile, tile.row + y + 32 * i).template hide<wide>(at, [=](int j) {
            return step * S.keys + x + 8 * j;
          });
        const T rescaling = weigh<wide, 8, 2>(most[i], total[i], T(1), at);
#pragma unroll
        for (int j = 0; j < wide; j += w) {  // keys are grouped by threads, each with w of them
          Pack<T, w> pack;
#pragma unroll
          for (int n = 0; n < w; ++n) pack.value[n] = score[i][j + n];
          store_pack(weights + (y + 32 * i) * weights_stride + 8 * j + x * w, pack);
        }
#pragma unroll
        for (int n = 0; n < across; ++n)
#pragma unroll
          for (int e = 0; e < w; ++e) sum[i][n][e] *= rescaling;
      }
    }
    cuda::wait_copies<0>();
    __syncthreads();
    fetch(k, c.k, step + 1);
    if (!active) continue;
    const int keys = exact ? min(S.keys, int(c.t) - step * S.keys) : S.keys,
              packs = (keys + 8 * w - 1) / (8 * w) * 8;
#pragma unroll 2
    for (int pack = 0; pack < packs; ++pack) {
      Pack<T, w> left[high];
#pragma unroll
      for (int i = 0; i < high; ++i)
        left[i] = load_pack<w>(weights + (y + 32 * i) * weights_stride + pack * w);
#pragma unroll
      for (int key = 0; key < w; ++key)
#pragma unroll
        for (int n = 0; n < across; ++n) {
          const auto right =
              load_pack<w>(v + (pack / 8 * 8 * w + key * 8 + pack % 8) * stride + (n * 8 + x) * w);
#pragma unroll
          for (int i = 0; i < high; ++i)
#pragma unroll
            for (int e = 0; e < w; ++e) sum[i][n][e] += left[i].value[key] * right.value[e];
        }
    }
  }
  cuda::wait_copies<0>();

#pragma unroll
  for (int i = 0; i < high; ++i) {
    T all = total[i];
#pragma unroll
    for (int half = 8; half > 1; half /= 2) all += __shfl_xor_sync(~0u, all, half);
    const int row = tile.row + y + 32 * i;
    if (row >= c.rows) continue;
    const AttentionResult<T> result(c, p, tile, row, most[i], all, x == 0);
#pragma unroll
    for (int n = 0; n < across; ++n) {
      Pack<T, w> pack;
#pragma unroll
      for (int e = 0; e < w; ++e) pack.value[e] = sum[i][n][e];
      result.template put<w>((n * 8 + x) * w, unit, pack);
    }
  }
}

}  // namespace
}  // namespace kolmo
