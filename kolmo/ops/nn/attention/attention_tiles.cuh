#pragma once
// attention on the ordinary cores: f32 and f64. The 256 threads of a block are 16 x 16: thread (y, x) has the scores of
// rows y, y + 16, ... and keys x, x + 16, ..., and of the same rows every 16th pack of the sum of values. Anonymous
// namespace: see device/grid.cuh.
#include "kolmo/ops/nn/attention/attention_tile.cuh"

namespace kolmo {
namespace {

/// For d <= width: rows of a block, and keys of a step.
struct AttentionTileShape {
  int width, rows, keys, blocks;
  template <class T>
  constexpr int stride() const {
    return width + pack_width<T>;
  }
  template <class T>
  constexpr int bytes() const {
    return int(sizeof(T)) * ((rows + 2 * keys) * stride<T>() + rows * (keys + 1));
  }
};
constexpr AttentionTileShape tile_shapes_f32[] = {{64, 64, 64, 2}, {128, 64, 32, 2}, {256, 32, 16, 2}},
                             tile_shapes_f64[] = {{64, 32, 32, 2}, {128, 32, 16, 2}, {256, 16, 16, 1}};
constexpr int tile_block = 256;
template <class T, int V>
constexpr AttentionTileShape attention_tile_shape = sizeof(T) == 4 ? tile_shapes_f32[V] : tile_shapes_f64[V];

template <class T, int V>
__global__ void __launch_bounds__(tile_block, attention_tile_shape<T, V>.blocks)
    attend_tiles(AttentionCall<T> c, KeyParts<T> p, int unit) {
  constexpr AttentionTileShape S = attention_tile_shape<T, V>;
  constexpr int w = pack_width<T>, stride = S.template stride<T>(), high = S.rows / 16, wide = S.keys / 16,
                across = S.width / (16 * w);
  T* const q = cuda::dynamic_shared<T>();
  T *const k = q + S.rows * stride, *const v = k + S.keys * stride, *const weights = v + S.keys * stride;
  const AttentionTile tile(c, S.rows, S.keys, p.parts);
  const int x = int(threadIdx.x) % 16, y = int(threadIdx.x) / 16;

  fetch_rows<S.rows, S.width, stride, tile_block>(q, c.d, unit, [&](int r) {
    return tile.row + r < c.rows ? c.q + c.query_at(tile.group, tile.row + r) : nullptr;
  });
  const auto fetch = [&](T* to, const T* from, int step) {
    if (step < tile.last_step) {
      const std::int64_t key = std::int64_t(step) * S.keys;
      const T* const origin = from + c.key_at(tile.group, key);
      fetch_rows<S.keys, S.width, stride, tile_block>(
          to, c.d, unit, [&](int r) { return key + r < c.t ? origin + r * c.k_row : nullptr; });
    }
    cuda::commit_copies();
  };
  fetch(k, c.k, tile.first_step);

  const T factor = T(c.scale * 1.4426950408889634);  // weights are powers of 2
  T sum[high][across][w] = {}, most[high], total[high] = {};
#pragma unroll
  for (int i = 0; i < high; ++i) most[i] = T(-INFINITY);

  for (int step = tile.first_step; step < tile.last_step; ++step) {
    cuda::wait_copies<0>();
    __syncthreads();
    fetch(v, c.v, step);
    T score[high][wide] = {};
#pragma unroll 4
    for (int e = 0; e < S.width; e += w) {
      Pack<T, w> left[high], right[wide];
#pragma unroll
      for (int i = 0; i < high; ++i) left[i] = load_pack<w>(q + (y + 16 * i) * stride + e);
#pragma unroll
      for (int j = 0; j < wide; ++j) right[j] = load_pack<w>(k + (x + 16 * j) * stride + e);
#pragma unroll
      for (int n = 0; n < w; ++n)
#pragma unroll
        for (int i = 0; i < high; ++i)
#pragma unroll
          for (int j = 0; j < wide; ++j) score[i][j] += left[i].value[n] * right[j].value[n];
    }
#pragma unroll
    for (int i = 0; i < high; ++i) {
      const auto at = [&](int j) -> T& { return score[i][j]; };
#pragma unroll
      for (int j = 0; j < wide; ++j) at(j) = exact_mul(at(j), factor);
      if (step >= tile.whole_steps)
        AttentionRow(c, tile, tile.row + y + 16 * i).template hide<wide>(at, [=](int j) {
          return step * S.keys + x + 16 * j;
        });
      const T rescaling = weigh<wide, 16>(most[i], total[i], T(1), at);
#pragma unroll
      for (int j = 0; j < wide; ++j) weights[(y + 16 * i) * (S.keys + 1) + x + 16 * j] = score[i][j];
#pragma unroll
      for (int n = 0; n < across; ++n)
#pragma unroll
        for (int e = 0; e < w; ++e) sum[i][n][e] *= rescaling;
    }
    cuda::wait_copies<0>();
    __syncthreads();
    fetch(k, c.k, step + 1);
#pragma unroll 4
    for (int key = 0; key < S.keys; ++key) {
      T left[high];
#pragma unroll
      for (int i = 0; i < high; ++i) left[i] = weights[(y + 16 * i) * (S.keys + 1) + key];
#pragma unroll
      for (int n = 0; n < across; ++n) {
        const auto right = load_pack<w>(v + key * stride + (n * 16 + x) * w);
#pragma unroll
        for (int i = 0; i < high; ++i)
#pragma unroll
          for (int e = 0; e < w; ++e) sum[i][n][e] += left[i] * right.value[e];
      }
    }
  }
  cuda::wait_copies<0>();

#pragma unroll
  for (int i = 0; i < high; ++i) {
    T all = total[i];
#pragma unroll
    for (int half = 8; half; half /= 2) all += __shfl_xor_sync(~0u, all, half);
    const std::int64_t row = tile.row + y + 16 * i;
    if (row >= c.rows) continue;
    const AttentionResult<T> result(c, p, tile, row, most[i], all, x == 0);
#pragma unroll
    for (int n = 0; n < across; ++n) {
      Pack<T, w> pack;
#pragma unroll
      for (int e = 0; e < w; ++e) pack.value[e] = sum[i][n][e];
      result.template put<w>((n * 16 + x) * w, unit, pack);
    }
  }
}

}  // namespace
}  // namespace kolmo
