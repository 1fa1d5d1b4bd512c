#pragma once
// conv2d on the ordinary cores, in f32 and f64. A block computes a tile of y, and a thread a part of it in
// registers. Meanwhile asynchronous copies bring the next pieces of the matrices into shared memory.
#include "kolmo/device/activation.cuh"
#include "kolmo/device/async.cuh"
#include "kolmo/ops/nn/conv2d/conv2d_problem.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

/// A block's tile has `rows` output channels by `columns` pixels and takes `depth` terms at a time. A thread
/// computes high x wide of these, in groups of 16 bytes spread over the tile.
struct ConvTileShape {
  int rows, columns, depth, high, wide, blocks;
  constexpr int threads() const { return rows / high * (columns / wide); }
};
constexpr ConvTileShape conv_tile_shapes[] = {
    {64, 64, 16, 4, 4, 3},  // f32
    {64, 128, 8, 8, 8, 3},  // f32
    {64, 192, 8, 8, 8, 2},  // f32
    {64, 64, 16, 4, 4, 2},  // f64
};

/// The place in a tile of `extent` of element i of the `count` elements of thread t.
template <class S>
__device__ constexpr int spread(int i, int t, int count, int extent) {
  constexpr int width = 16 / sizeof(S);
  return i / width * (extent / (count / width)) + t * width + i % width;
}

/// Writes a thread's part of a tile. If every row of y begins at a multiple of 16 bytes, neighbours are
/// written 16 bytes at once.
template <ConvTileShape Shape, bool Nhwc, class T>
__device__ void write_tile(const ConvProblem<T>& c, const ConvTile& tile,
                           const T (&sum)[Shape.high][Shape.wide], int down, int across) {
  constexpr int width = 16 / sizeof(T);
  // Neighbours in y are channels with nhwc, and pixels with nchw.
  constexpr int near = Nhwc ? Shape.high : Shape.wide, far = Nhwc ? Shape.wide : Shape.high;
  T bias[Shape.high];
  std::int64_t place[Shape.wide];  // offset of the first channel of each pixel
#pragma unroll
  for (int a = 0; a < Shape.high; ++a) {
    const int output = tile.output + spread<T>(a, down, Shape.high, Shape.rows);
    bias[a] = c.bias && output < c.group_outputs ? c.bias[tile.group * c.group_outputs + output] : T(0);
  }
#pragma unroll
  for (int b = 0; b < Shape.wide; ++b)
    place[b] = c.place(tile.pixel + spread<T>(b, across, Shape.wide, Shape.columns), tile.group);
#pragma unroll
  for (int f = 0; f < far; ++f)
#pragma unroll
    for (int first = 0; first < near; first += width) {
      Pack<T, width> values;
      std::int64_t at[width];
      bool inside[width];
#pragma unroll
      for (int w = 0; w < width; ++w) {
        const int a = Nhwc ? first + w : f, b = Nhwc ? f : first + w;
        const int output = tile.output + spread<T>(a, down, Shape.high, Shape.rows);
        values.value[w] = sum[a][b] + bias[a];
        if (c.activation == Activation::relu) values.value[w] = activate(Activation::relu, values.value[w]);
        at[w] = place[b] + output * c.channel_step();
        inside[w] = output < c.group_outputs &&
                    tile.pixel + spread<T>(b, across, Shape.wide, Shape.columns) < c.all_pixels;
      }
      if (c.activation != Activation::none && c.activation != Activation::relu)
        values = cuda::activated(c.activation, values);
      if (c.packs && inside[width - 1]) {
        store_pack(c.y + at[0], values);
      } else {
#pragma unroll
        for (int w = 0; w < width; ++w)
          if (inside[w]) c.y[at[w]] = values.value[w];
      }
    }
}

template <class T, bool Nhwc, int V>
__global__ void __launch_bounds__(conv_tile_shapes[V].threads(), conv_tile_shapes[V].blocks)
    conv_tiles(cuda::EarlyStart early, ConvProblem<T> c, std::int64_t tiles) {
  constexpr ConvTileShape shape = conv_tile_shapes[V];
  constexpr int threads = shape.threads(), depth = shape.depth, width = 16 / sizeof(T);
  constexpr int kernels = (shape.rows * depth + threads - 1) / threads,
                values = shape.columns * depth / threads;
  // A thread reads one pixel of a piece or, with nhwc, one term.
  constexpr int seen = Nhwc ? values : 1;
  static_assert(threads % depth == 0 && threads % shape.columns == 0);
  __shared__ __align__(16) T left[2][depth][shape.rows + width], right[2][depth][shape.columns + width];
  const int thread = int(threadIdx.x);
  const int across = Nhwc ? thread / (shape.rows / shape.high) : thread % (shape.columns / shape.wide),
            down = Nhwc ? thread % (shape.rows / shape.high) : thread / (shape.columns / shape.wide);

  early.wait();
  for (std::int64_t i = blockIdx.x; i < tiles; i += gridDim.x) {
    const ConvTile tile(c, i, shape.rows, shape.columns);
    ConvPixel pixel[seen];
#pragma unroll
    for (int j = 0; j < seen; ++j)
      pixel[j] = c.pixel(
          tile.pixel + (Nhwc ? thread / depth + j * (threads / depth) : thread % shape.columns), tile.group);
    // With nchw, and if channels fill whole pieces, the terms of a piece belong to one place in the kernel
    // and differ in their channel alone.
    const bool by_place = !Nhwc && c.depth > 0 && c.depth % depth == 0;
    const int places = by_place ? c.terms / c.depth : 0;
    const auto fetch_place = [&](int k0) {
      const int at = k0 / depth % 2, place = k0 / c.depth, channel = k0 - place * c.depth;
      const T* const weights = c.weight +
                               (std::int64_t(tile.group) * c.group_outputs + tile.output) * c.terms +
                               (channel + thread % depth) * places + place;
#pragma unroll
      for (int j = 0; j < kernels; ++j) {
        const int o = thread / depth + j * (threads / depth);
        if (o >= shape.rows) continue;
        cuda::copy_async(&left[at][thread % depth][o], weights + std::int64_t(o) * c.terms,
                         tile.output + o < c.group_outputs);
      }
      const ConvTerm term = c.term[place];
      const int row = thread / shape.columns, p = thread % shape.columns;
      const bool inside = c.inside(pixel[0], term);
      const T* from = c.x + (pixel[0].offset + term.offset) + (channel + row) * c.plane();
#pragma unroll
      for (int j = 0; j < values; ++j, from += threads / shape.columns * c.plane())
        cuda::copy_async(&right[at][row + j * (threads / shape.columns)][p], from, inside);
      cuda::commit_copies();
    };
    const auto fetch_terms = [&](int k0) {
      const int at = k0 / depth % 2;
#pragma unroll
      for (int j = 0; j < kernels; ++j) {
        const int k = k0 + thread % depth, o = thread / depth + j * (threads / depth);
        if (o >= shape.rows) continue;
        const bool inside = k < c.terms && tile.output + o < c.group_outputs;
        cuda::copy_async(
            &left[at][thread % depth][o],
            inside ? c.weight + (std::int64_t(tile.group) * c.group_outputs + tile.output + o) * c.terms + k
                   : nullptr);
      }
      // Terms of several values are in flight at once.
      constexpr int together = values % 4 == 0 ? 4 : 1;
#pragma unroll
      for (int first = 0; first < values; first += together) {
        ConvTerm term[together];
        const auto place = [&](int i) {
          return Nhwc ? thread % depth : thread / shape.columns + (first + i) * (threads / shape.columns);
        };
#pragma unroll
        for (int i = 0; i < together; ++i) {
          const int k = k0 + place(i);
          term[i] = c.term[k < c.terms ? k : 0];
        }
#pragma unroll
        for (int i = 0; i < together; ++i) {
          const int j = first + i, p = Nhwc ? thread / depth + j * (threads / depth) : thread % shape.columns;
          const ConvPixel& from = pixel[Nhwc ? j : 0];
          const bool inside = (k0 + place(i) < c.terms) & c.inside(from, term[i]);
          cuda::copy_async(&right[at][place(i)][p], inside ? c.x + (from.offset + term[i].offset) : nullptr);
        }
      }
      cuda::commit_copies();
    };
    const auto fetch = [&](int k0) { by_place ? fetch_place(k0) : fetch_terms(k0); };
    T sum[shape.high][shape.wide] = {};
    __syncthreads();
    if (c.terms > 0) fetch(0);
    for (int k0 = 0; k0 < c.terms; k0 += depth) {
      const int at = k0 / depth % 2;
      cuda::wait_copies<0>();
      __syncthreads();
      if (k0 + depth < c.terms) fetch(k0 + depth);
#pragma unroll
      for (int d = 0; d < depth; ++d) {
        T l[shape.high], r[shape.wide];
#pragma unroll
        for (int a = 0; a < shape.high; ++a) l[a] = left[at][d][spread<T>(a, down, shape.high, shape.rows)];
#pragma unroll
        for (int b = 0; b < shape.wide; ++b)
          r[b] = right[at][d][spread<T>(b, across, shape.wide, shape.columns)];
#pragma unroll
        for (int a = 0; a < shape.high; ++a)
#pragma unroll
          for (int b = 0; b < shape.wide; ++b) sum[a][b] += l[a] * r[b];
      }
    }
    write_tile<shape, Nhwc>(c, tile, sum, down, across);
  }
}

}  // namespace
}  // namespace kolmo
