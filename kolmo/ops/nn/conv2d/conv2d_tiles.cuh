#pragma once
// conv2d on the ordinary cores. A block computes a tile of y, and a thread a part of it in registers. While it
// computes with a piece of the matrices in shared memory, the next one is on its way into registers. Anonymous
// namespace: see device/grid.cuh.
#include "kolmo/ops/nn/conv2d/conv2d_problem.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

/// Output channels by pixels of a block, terms at a time; a thread's part is high x wide, in groups of 16 bytes spread
/// over the tile.
struct ConvTileShape {
  int rows, columns, depth, high, wide, blocks;
  constexpr int threads() const { return rows / high * (columns / wide); }
};
constexpr ConvTileShape conv_tile_shapes[] = {
    {64, 64, 16, 4, 4, 3},  // f32
    {128, 64, 8, 8, 4, 2},  // f32
    {64, 64, 16, 4, 4, 2},  // f64
};

/// Element i of `count` of thread t, in a tile of `extent`.
template <class S>
__device__ constexpr int spread(int i, int t, int count, int extent) {
  constexpr int width = 16 / sizeof(S);
  return i / width * (extent / (count / width)) + t * width + i % width;
}

template <class T, bool Nhwc, int V>
__global__ void __launch_bounds__(conv_tile_shapes[V].threads(), conv_tile_shapes[V].blocks)
    conv_tiles(ConvProblem<T> c, std::int64_t tiles) {
  using S = Compute<T>;
  constexpr ConvTileShape shape = conv_tile_shapes[V];
  constexpr int threads = shape.threads(), depth = shape.depth, width = 16 / sizeof(S);
  constexpr int kernels = shape.rows * depth / threads, values = shape.columns * depth / threads;
  // A thread reads one pixel, or with nhwc one term, of a piece.
  constexpr int seen = Nhwc ? values : 1;
  static_assert(threads % depth == 0 && threads % shape.columns == 0);
  __shared__ __align__(16) S left[depth][shape.rows + width], right[depth][shape.columns + width];
  const int thread = int(threadIdx.x);
  const int across = Nhwc ? thread / (shape.rows / shape.high) : thread % (shape.columns / shape.wide),
            down = Nhwc ? thread % (shape.rows / shape.high) : thread / (shape.columns / shape.wide);

  for (std::int64_t i = blockIdx.x; i < tiles; i += gridDim.x) {
    const ConvTile tile(c, i, shape.rows, shape.columns);
    ConvPixel pixel[seen];
#pragma unroll
    for (int j = 0; j < seen; ++j)
      pixel[j] = c.pixel(
          tile.pixel + (Nhwc ? thread / depth + j * (threads / depth) : thread % shape.columns), tile.group);
    T kernel[kernels], value[values];
    const auto fetch = [&](int k0) {
#pragma unroll
      for (int j = 0; j < kernels; ++j) {
        const int k = k0 + thread % depth, o = tile.output + thread / depth + j * (threads / depth);
        kernel[j] = k < c.terms && o < c.group_outputs
                        ? c.weight[(std::int64_t(tile.group) * c.group_outputs + o) * c.terms + k]
                        : T(0.0f);
      }
#pragma unroll
      for (int j = 0; j < values; ++j) {
        const int k = k0 + (Nhwc ? thread % depth : thread / shape.columns + j * (threads / shape.columns));
        const ConvPixel& p = pixel[Nhwc ? j : 0];
        value[j] = T(0.0f);
        if (k < c.terms) {
          const ConvTerm t = c.term[k];
          if (c.inside(p, t)) value[j] = c.x[p.offset + t.offset];
        }
      }
    };
    S sum[shape.high][shape.wide] = {};
    fetch(0);
    for (int k0 = 0; k0 < c.terms; k0 += depth) {
      __syncthreads();
#pragma unroll
      for (int j = 0; j < kernels; ++j)
        left[thread % depth][thread / depth + j * (threads / depth)] = S(kernel[j]);
#pragma unroll
      for (int j = 0; j < values; ++j) {
        if constexpr (Nhwc)
          right[thread % depth][thread / depth + j * (threads / depth)] = S(value[j]);
        else
          right[thread / shape.columns + j * (threads / shape.columns)][thread % shape.columns] = S(value[j]);
      }
      __syncthreads();
      if (k0 + depth < c.terms) fetch(k0 + depth);
#pragma unroll
      for (int d = 0; d < depth; ++d) {
        S l[shape.high], r[shape.wide];
#pragma unroll
        for (int a = 0; a < shape.high; ++a) l[a] = left[d][spread<S>(a, down, shape.high, shape.rows)];
#pragma unroll
        for (int b = 0; b < shape.wide; ++b) r[b] = right[d][spread<S>(b, across, shape.wide, shape.columns)];
#pragma unroll
        for (int a = 0; a < shape.high; ++a)
#pragma unroll
          for (int b = 0; b < shape.wide; ++b) sum[a][b] += l[a] * r[b];
      }
    }
#pragma unroll
    for (int b = 0; b < shape.wide; ++b)
#pragma unroll
      for (int a = 0; a < shape.high; ++a)
        c.finish(tile.pixel + spread<S>(b, across, shape.wide, shape.columns), tile.group,
                 tile.output + spread<S>(a, down, shape.high, shape.rows), sum[a][b]);
  }
}

}  // namespace
}  // namespace kolmo
