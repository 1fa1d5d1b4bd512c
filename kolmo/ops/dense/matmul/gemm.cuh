#pragma once
// The arguments of every kernel of matmul, and the final step of each.
#include <cmath>
#include <cstdint>

#include "kolmo/base/convert.hpp"
#include "kolmo/base/pack.hpp"
#include "kolmo/device/activation.cuh"
#include "kolmo/device/grid.cuh"
#include "kolmo/ops/dense/matmul/matmul_sizes.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

/// A call with typed pointers. All arrays are contiguous; c and bias may be null. If there are several parts,
/// k is split into parts that different blocks sum; each part has an array of the size of y in `partial`.
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
  bool y_is_f32;                ///< whether y is float although T is not
  const Sum* before = nullptr;  ///< sums so far, which are added; of 16-bit factors only

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

  /// Stores 8 neighbouring sums. Rows of y must begin at multiples of 16 bytes.
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
      combine(done, at, column);
      if (activation != Activation::none) done = cuda::activated(activation, done);
    }
    if (parts == 1 && !y_is_f32) return store_pack(static_cast<T*>(y) + at, narrowed<T, 8>(done));
    Sum* const to = parts > 1 ? partial + part * size() + at : static_cast<Sum*>(y) + at;
#pragma unroll
    for (int half = 0; half < 8; half += 4)
      store_pack(to + half, Pack<Sum, 4>{{done.value[half], done.value[half + 1], done.value[half + 2],
                                          done.value[half + 3]}});
  }

  /// Stores neighbouring sums that fill 16 bytes. Rows of y must begin at multiples of 16 bytes, and y must
  /// have the type of the sums.
  __device__ void put_pack(int part, std::int64_t entry, int row, int column,
                           const Pack<Sum, pack_width<Sum>>& sums) const {
    static_assert(sizeof(T) == sizeof(Sum));
    if (row >= m || column >= n) return;
    const std::int64_t at = (entry * m + row) * n + column;
    if (parts > 1) return store_pack(partial + part * size() + at, sums);
    Pack<Sum, pack_width<Sum>> done = sums;
    combine(done, at, column);
    if (activation != Activation::none) done = cuda::activated(activation, done);
    store_pack(static_cast<Sum*>(y) + at, done);
  }

  /// Stores W neighbouring sums that are complete (k is not split). They may begin anywhere; y must have
  /// their type.
  template <int W>
  __device__ void put_neighbors(std::int64_t entry, int row, int column, Pack<Sum, W> sums) const {
    if (row >= m || column >= n) return;
    if (column + W > n) {
      for (int w = 0; w < W; ++w) put(0, entry, row, column + w, sums.value[w]);
      return;
    }
    const std::int64_t at = (entry * m + row) * n + column;
    combine(sums, at, column);
#pragma unroll
    for (int first = 0; first < W; first += pack_width<Sum>) {
      Pack<Sum, pack_width<Sum>> done;
#pragma unroll
      for (int w = 0; w < pack_width<Sum>; ++w) done.value[w] = sums.value[first + w];
      if (activation != Activation::none) done = cuda::activated(activation, done);
#pragma unroll
      for (int w = 0; w < pack_width<Sum>; ++w) static_cast<Sum*>(y)[at + first + w] = done.value[w];
    }
  }

  /// The argument of the activation for y[at], an element of `column`, from its complete sum of products.
  __device__ Sum combined(std::int64_t at, int column, Sum sum) const {
    sum *= alpha;
    if constexpr (sizeof(T) == 2)
      if (before) sum += before[at];
    if (c) sum += beta * Sum(c[at]);
    if (bias) sum += Sum(bias[column]);
    return sum;
  }
  /// Does the same for neighbouring elements, whose loads are in flight together.
  template <int W>
  __device__ void combine(Pack<Sum, W>& sums, std::int64_t at, int column) const {
#pragma unroll
    for (Sum& sum : sums.value) sum *= alpha;
    if constexpr (sizeof(T) == 2)
      if (before) {
#pragma unroll
        for (int w = 0; w < W; ++w) sums.value[w] += before[at + w];
      }
    if (c) {
      const auto summands = elements<W>(c + at);
#pragma unroll
      for (int w = 0; w < W; ++w) sums.value[w] += beta * summands.value[w];
    }
    if (bias) {
      const auto summands = elements<W>(bias + column);
#pragma unroll
      for (int w = 0; w < W; ++w) sums.value[w] += summands.value[w];
    }
  }
  /// Reads neighbouring elements, which may begin anywhere.
  template <int W>
  __device__ static Pack<Sum, W> elements(const T* from) {
    Pack<T, W> pack;
#pragma unroll
    for (int w = 0; w < W; ++w) pack.value[w] = from[w];
    return widened(pack);
  }
  __device__ void finish(std::int64_t at, int column, Sum sum) const {
    sum = activate(activation, combined(at, column, sum));
    if (y_is_f32)
      static_cast<float*>(y)[at] = float(sum);
    else
      static_cast<T*>(y)[at] = T(sum);
  }
};

/// Stores packs of sums of one part of k. Most calls add nothing but a bias, apply nothing but relu, or write
/// parts. These take few instructions, which can be repeated for every pack of a thread; all other calls go
/// through put_slowly(). Elements: rows of y may begin anywhere. A kernel with many packs leaves that out,
/// since it makes the code larger than it is worth.
template <class T, bool Elements>
class PackWriter {
 public:
  using Sum = SumOf<T>;
  using Sums = Pack<Sum, pack_width<Sum>>;

  /// packs: rows of y begin at multiples of 16 bytes.
  __device__ PackWriter(const Gemm<T>& g, int part, std::int64_t entry, bool packs)
      : g_(g), entry_(entry), part_(part), packs_(packs) {
    if (!packs && !Elements) return;
    if (g.parts > 1) {
      to_ = g.partial + part * g.size() + entry * g.m * g.n;
    } else if (!g.c && g.activation <= Activation::relu) {
      to_ = static_cast<Sum*>(g.y) + entry * g.m * g.n, factor_ = g.alpha, bias_ = g.bias;
      if (g.activation == Activation::relu) least_ = 0;
    }
  }
  /// Whether put() can store the sums by itself, without put_slowly().
  __device__ bool plain() const { return to_; }

  /// Returns what put() adds in a pack of columns.
  __device__ Sums bias(int column) const {
    Sums bias;
#pragma unroll
    for (int w = 0; w < pack_width<Sum>; ++w)
      bias.value[w] = bias_ && (Elements ? column + w : column) < g_.n ? bias_[column + w]
                                                                       : -Sum(0);  // which changes nothing
    return bias;
  }
  __device__ void put(int row, int column, Sums sums, const Sums& bias) const {
    if (row >= g_.m || column >= g_.n) return;
    if (!to_) return put_slowly(g_, part_, entry_, row, column, sums, packs_);
#pragma unroll
    for (int w = 0; w < pack_width<Sum>; ++w) {
      const Sum sum = sums.value[w] * factor_ + bias.value[w];
      sums.value[w] = sum < least_ ? least_ : sum;  // NaN stays NaN
    }
    Sum* const to = to_ + std::int64_t(row) * g_.n + column;
    if (!Elements || packs_) return store_pack(to, sums);
#pragma unroll
    for (int w = 0; w < pack_width<Sum>; ++w)
      if (column + w < g_.n) to[w] = sums.value[w];
  }

 private:
  /// Stores sums in all the cases that put() does not handle itself.
  [[gnu::noinline]] static __device__ void put_slowly(const Gemm<T>& g, int part, std::int64_t entry, int row,
                                                      int column, Sums sums, bool packs) {
    if (packs) return g.put_pack(part, entry, row, column, sums);
#pragma unroll
    for (int w = 0; w < pack_width<Sum>; ++w) g.put(part, entry, row, column + w, sums.value[w]);
  }

  const Gemm<T>& g_;
  const T* bias_ = nullptr;
  Sum *to_ = nullptr, factor_ = 1, least_ = -INFINITY;
  std::int64_t entry_;
  int part_;
  bool packs_;
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

  /// Computes in 32 bits, in which blocks are counted: quotients of 64 bits would take a tenth of the time of
  /// a short product.
  template <class T>
  __device__ TileIndex(const Gemm<T>& g, std::int64_t index, int rows, int columns, int depth) {
    const unsigned high = unsigned(g.m + rows - 1) / rows, wide = unsigned(g.n + columns - 1) / columns,
                   tiles = high * wide, all = unsigned(g.batch) * tiles,
                   steps = unsigned(g.k + depth - 1) / depth;
    part = 0, first_step = 0, last_step = int(steps);
    unsigned tile = unsigned(index);
    if (g.parts > 1) {
      part = int(tile / all), tile -= unsigned(part) * all;
      const int share = int(steps) / g.parts, more = int(steps) % g.parts;  // the first parts take one more
      first_step = part * share + (part < more ? part : more);
      last_step = first_step + share + (part < more ? 1 : 0);
    }
    entry = tile / tiles, tile %= tiles;
    const unsigned strip = tile / (8 * wide), first = strip * 8,
                   rows_of_strip = high - first < 8 ? high - first : 8, inside = tile - strip * 8 * wide;
    row = int(first + inside % rows_of_strip) * rows;
    column = int(inside / rows_of_strip) * columns;
  }
};

constexpr int combine_block = 1024;

/// Adds the parts of every sum and calls finish(). Threads threads work on each sum: each adds every
/// Threads-th part in order, and the first adds their results.
template <class T, int Threads>
__global__ void __launch_bounds__(combine_block) combine(cuda::EarlyStart start, Gemm<T> g) {
  start.wait();
  constexpr int across = combine_block / Threads;
  __shared__ SumOf<T> sums[Threads][across];
  const int x = int(threadIdx.x) % across, y = int(threadIdx.x) / across;
  for (std::int64_t first = std::int64_t(blockIdx.x) * across; first < g.size();
       first += std::int64_t(gridDim.x) * across) {
    const std::int64_t at = first + x;
    SumOf<T> sum = 0;
    if (at < g.size())
#pragma unroll 8
      for (int part = y; part < g.parts; part += Threads) sum += g.partial[part * g.size() + at];
    if constexpr (Threads > 1) {
      sums[y][x] = sum;
      __syncthreads();
#pragma unroll
      for (int i = 1; i < Threads; ++i) sum += sums[i][x];  // only those of the first thread are used
      __syncthreads();
    }
    if (y == 0 && at < g.size()) g.finish(at, int(at % g.n), sum);
  }
}

}  // namespace
}  // namespace kolmo
