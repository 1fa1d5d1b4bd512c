#pragma once
// What every kernel of matmul takes, and how it ends. Anonymous namespace: see device/grid.cuh.
#include <cstdint>

#include "kolmo/base/activation.hpp"
#include "kolmo/device/grid.cuh"
#include "kolmo/ops/dense/matmul/matmul_sizes.hpp"

namespace kolmo {
namespace {

/// A call in terms of its element type. Everything is contiguous; c and bias may be null. With more than one
/// part, k is cut into parts that different blocks sum into `partial`, one array like y for each.
template <class T>
struct Gemm {
  using Sum = SumOf<T>;
  const T *a, *b, *c, *bias;
  void* y;
  std::int64_t batch;
  int m, n, k, parts;
  Sum* partial;
  Sum alpha, beta;
  Activation activation;
  bool y_is_f32;  ///< y is float although T is not

  __device__ std::int64_t size() const { return batch * m * n; }

  /// Takes a block's sum of products for y(row, column) of a batch entry; those past the end are left out.
  __device__ void put(int part, std::int64_t entry, int row, int column, Sum sum) const {
    if (row >= m || column >= n) return;
    const std::int64_t at = (entry * m + row) * n + column;
    if (parts > 1)
      partial[part * size() + at] = sum;
    else
      finish(at, column, sum);
  }

  /// Writes y[at], which stands in `column`, from the whole sum of products.
  __device__ void finish(std::int64_t at, int column, Sum sum) const {
    sum *= alpha;
    if (c) sum += beta * Sum(c[at]);
    if (bias) sum += Sum(bias[column]);
    sum = activate(activation, sum);
    if (y_is_f32)
      static_cast<float*>(y)[at] = float(sum);
    else
      static_cast<T*>(y)[at] = T(sum);
  }
};

/// Microseconds of a step through k on an H200: of a block that has a multiprocessor to itself, and for each
/// of many blocks that share one.
struct StepTime {
  double alone, shared;
};

/// Which tile of y a block computes, over which of the steps through k. Blocks that run together share rows
/// of a and columns of b: they go down strips of 8 rows of tiles.
struct TileIndex {
  int part, first_step, last_step;
  std::int64_t entry;  ///< of the batch
  int row, column;     ///< first element

  template <class T>
  __device__ TileIndex(const Gemm<T>& g, int rows, int columns, int depth) {
    const int high = (g.m + rows - 1) / rows, wide = (g.n + columns - 1) / columns;
    const std::int64_t tiles = std::int64_t(high) * wide, of_part = blockIdx.x % (g.batch * tiles),
                       steps = (g.k + depth - 1) / depth;
    part = int(blockIdx.x / (g.batch * tiles));
    first_step = int(steps * part / g.parts), last_step = int(steps * (part + 1) / g.parts);
    entry = of_part / tiles;
    const int tile = int(of_part % tiles), strip = tile / (8 * wide), first = strip * 8,
              rows_of_strip = high - first < 8 ? high - first : 8, inside = tile - strip * 8 * wide;
    row = (first + inside % rows_of_strip) * rows;
    column = inside / rows_of_strip * columns;
  }
};

constexpr int combine_block = 256;

/// Adds the parts of every sum in their order, and finishes it.
template <class T>
__global__ void __launch_bounds__(combine_block) combine(Gemm<T> g) {
  for (std::int64_t at = cuda::thread_index(); at < g.size(); at += cuda::thread_count()) {
    SumOf<T> sum = 0;
    for (int part = 0; part < g.parts; ++part) sum += g.partial[part * g.size() + at];
    g.finish(at, int(at % g.n), sum);
  }
}

}  // namespace
}  // namespace kolmo
