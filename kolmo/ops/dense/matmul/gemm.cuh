#pragma once
// What every kernel of matmul takes, and how it ends. Anonymous namespace: see device/grid.cuh.
#include <cstdint>

#include "kolmo/base/activation.hpp"
#include "kolmo/device/grid.cuh"

namespace kolmo {
namespace {

template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// A call in terms of its element type. Everything is contiguous; c and bias may be null.
template <class T>
struct Gemm {
  const T *a, *b, *c, *bias;
  void* y;
  std::int64_t batch;
  int m, n, k;
  SumOf<T> alpha, beta;
  Activation activation;
  bool y_is_f32;  ///< y is float although T is not

  /// y(row, column) of a batch entry, from the sum of products; rows and columns past the end are left out.
  __device__ void finish(std::int64_t entry, int row, int column, SumOf<T> sum) const {
    if (row >= m || column >= n) return;
    const std::int64_t at = (entry * m + row) * n + column;
    sum *= alpha;
    if (c) sum += beta * SumOf<T>(c[at]);
    if (bias) sum += SumOf<T>(bias[column]);
    sum = activate(activation, sum);
    if (y_is_f32)
      static_cast<float*>(y)[at] = float(sum);
    else
      static_cast<T*>(y)[at] = T(sum);
  }
};

/// Which tile of y a block computes. Blocks that run together share rows of a and columns of b: they go
/// down strips of 8 rows of tiles.
struct TileIndex {
  std::int64_t entry;  ///< of the batch
  int row, column;     ///< first element

  __device__ TileIndex(int m, int n, int rows, int columns) {
    const int high = (m + rows - 1) / rows, wide = (n + columns - 1) / columns;
    const std::int64_t tiles = std::int64_t(high) * wide;
    entry = blockIdx.x / tiles;
    const int tile = int(blockIdx.x % tiles), strip = tile / (8 * wide), first = strip * 8,
              rows_of_strip = high - first < 8 ? high - first : 8, inside = tile - strip * 8 * wide;
    row = (first + inside % rows_of_strip) * rows;
    column = inside / rows_of_strip * columns;
  }
};

}  // namespace
}  // namespace kolmo
