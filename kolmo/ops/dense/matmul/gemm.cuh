#pragma once
// The arguments of every kernel of matmul, and the final step of each. Anonymous namespace: see
// device/grid.cuh.
#include <cstdint>

#include "kolmo/base/convert.hpp"
#include "kolmo/base/pack.hpp"
#include "kolmo/device/activation.cuh"
#include "kolmo/device/grid.cuh"
#include "kolmo/ops/dense/matmul/matmul_sizes.hpp"

namespace kolmo {
namespace {

/// A call with typed pointers. All arrays are contiguous; c and bias may be null. With several parts, k is
/// split into parts that different blocks sum; each part has an array of the size of y in `partial`.
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
  bool y_is_f32;  ///< whether y is float although T is not

  __device__ std::int64_t size() const { return batch * m * n; }

  /// Stores a block's sum of products for y(row, column) of a batch entry; ignores elements outside y.
  __device__ void put(int part, std::int64_t entry, int row, int column, Sum sum) const {
    if (row >= m || column >= n) return;
    const std::int64_t at = (entry * m + row) * n + column;
    if (parts > 1)
      partial[part * size() + at] = sum;
    else
      finish(at, column, sum);
  }

  /// The same for 8 neighbouring elements, if rows of y begin at multiples of 16 bytes.
  __device__ void put_pack(int part, std::int64_t entry, int row, int column,
                           const Pack<Sum, 8>& sums) const {
    static_assert(sizeof(T) == 2 && sizeof(Sum) == 4);
    if (row >= m || column >= n) return;
    if (column + 8 > n) {
      for (int w = 0; w < 8; ++w) put(part, entry, row, column + w, sums.value[w]);
      return;
    }
    const std::int64_t at = (entry * m + row) * n + column;
    Pack<Sum, 8> done = sums;
    if (parts == 1) {
#pragma unroll
      for (int w = 0; w < 8; ++w) done.value[w] = combined(at + w, column + w, done.value[w]);
      if (activation != Activation::none) done = cuda::activated(activation, done);
    }
    if (parts == 1 && !y_is_f32) return store_pack(static_cast<T*>(y) + at, narrowed<T, 8>(done));
    Sum* const to = parts > 1 ? partial + part * size() + at : static_cast<Sum*>(y) + at;
#pragma unroll
    for (int half = 0; half < 8; half += 4)
      store_pack(to + half, Pack<Sum, 4>{{done.value[half], done.value[half + 1], done.value[half + 2],
                                          done.value[half + 3]}});
  }

  /// The argument of the activation for y[at], an element of `column`, from its complete sum of products.
  __device__ Sum combined(std::int64_t at, int column, Sum sum) const {
    sum *= alpha;
    if (c) sum += beta * Sum(c[at]);
    if (bias) sum += Sum(bias[column]);
    return sum;
  }
  __device__ void finish(std::int64_t at, int column, Sum sum) const {
    sum = activate(activation, combined(at, column, sum));
    if (y_is_f32)
      static_cast<float*>(y)[at] = float(sum);
    else
      static_cast<T*>(y)[at] = T(sum);
  }
};

/// Microseconds of a step through k on an H200: of one block alone on a multiprocessor, and per block if many
/// share one.
struct StepTime {
  double alone, shared;
};

/// Tile `index` of y, and its range of steps through k. To share rows of a and columns of b in the cache,
/// consecutive tiles go down strips of 8 rows of tiles.
struct TileIndex {
  int part, first_step, last_step;
  std::int64_t entry;  ///< index in the batch
  int row, column;     ///< first element

  template <class T>
  __device__ TileIndex(const Gemm<T>& g, std::int64_t index, int rows, int columns, int depth) {
    const int high = (g.m + rows - 1) / rows, wide = (g.n + columns - 1) / columns;
    const std::int64_t tiles = std::int64_t(high) * wide, of_part = index % (g.batch * tiles),
                       steps = (g.k + depth - 1) / depth;
    part = int(index / (g.batch * tiles));
    first_step = int(steps * part / g.parts), last_step = int(steps * (part + 1) / g.parts);
    entry = of_part / tiles;
    const int tile = int(of_part % tiles), strip = tile / (8 * wide), first = strip * 8,
              rows_of_strip = high - first < 8 ? high - first : 8, inside = tile - strip * 8 * wide;
    row = (first + inside % rows_of_strip) * rows;
    column = inside / rows_of_strip * columns;
  }
};

constexpr int combine_block = 256;

/// Adds the parts of every sum in their order, and calls finish().
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
