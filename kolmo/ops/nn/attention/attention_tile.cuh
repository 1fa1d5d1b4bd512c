#pragma once
// What the kernels of attention share: which queries and keys a block has, how rows are copied into shared
// memory, and where results are written.
#include <cmath>

#include "kolmo/base/activation.hpp"
#include "kolmo/base/convert.hpp"
#include "kolmo/base/pack.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/device/async.cuh"
#include "kolmo/device/grid.cuh"
#include "kolmo/ops/nn/attention/attention_call.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo {
namespace {

/// Keys may be split into parts, which different blocks pass over. If there are several parts, each has two
/// arrays for every row: `sums`, the weighted sum of values; `weights`, the largest score to the base 2 and
/// the sum of weights.
template <class C>
struct KeyParts {
  int parts;
  C *sums, *weights;
};

/// The rows of a group that a block has, and its range of steps through the keys. If causal, the rows with
/// the most keys come first: those of all heads, unless a block has rows of two heads.
struct AttentionTile {
  const std::uint8_t* mask;  ///< the mask of the group's first position
  int group, row, part, first_step, last_step;
  /// Number of leading steps in which every row sees every key; 0 if there is a mask.
  int whole_steps;

  template <class T>
  __device__ AttentionTile(const AttentionCall<T>& c, int rows, int keys, int parts,
                           unsigned index = blockIdx.x) {
    const auto all = unsigned(c.rows), s = unsigned(c.s), groups = unsigned(c.groups),
               high = (all + unsigned(rows) - 1) / unsigned(rows), of_part = index % (groups * high),
               group_of = c.causal() ? of_part % groups : of_part / high,
               down = c.causal() ? of_part / groups : of_part % high,
               heads = s % unsigned(rows) ? 1 : unsigned(c.heads_of_group), of_head = high / heads;
    part = int(index / (groups * high)), group = int(group_of);
    row = int(down % heads * of_head + of_head - 1 - down / heads) * rows;
    const unsigned first = unsigned(row),
                   last = (first + unsigned(rows) < all ? first + unsigned(rows) : all) - 1;
    const bool one_head = first / s == last / s;
    const int end = int(c.end(one_head ? last % s : s - 1)), steps = (end + keys - 1) / keys;
    first_step = int(quotient(std::int64_t(steps) * part, parts));
    last_step = int(quotient(std::int64_t(steps) * (part + 1), parts));
    whole_steps = c.mask ? 0 : int(c.end(one_head ? first % s : 0)) / keys, mask = c.row(group, 0);
  }
};

/// What a thread knows of one of its rows.
struct AttentionRow {
  /// The row sees only keys before this one; 0 for a row outside the group.
  int end = 0;
  const std::uint8_t* mask = nullptr;  ///< null if there is none
  template <class T>
  __device__ AttentionRow(const AttentionCall<T>& c, const AttentionTile& tile, int row) {
    if (row >= int(c.rows)) return;
    const auto position = std::int64_t(std::uint32_t(row) % std::uint32_t(c.s));
    end = int(c.end(position));
    if (tile.mask) mask = tile.mask + position * c.of_row;
  }
  /// Sets those of the N scores at(j) to -inf whose keys key(j) the row does not see.
  template <int N, class At, class Key>
  __device__ void hide(const At& at, const Key& key) const {
#pragma unroll
    for (int j = 0; j < N; ++j)
      if (key(j) >= end) at(j) = -INFINITY;
    if (mask && end) {
#pragma unroll
      for (int j = 0; j < N; ++j)
        if (!mask[key(j) < end ? key(j) : 0]) at(j) = -INFINITY;
    }
  }
};

inline __device__ double weight(double x) { return std::exp2(x); }
inline __device__ float weight(float x) { return power_of_2(x); }

/// Turns the N scores at(j) of a row, each first multiplied by `factor` > 0, into weights: powers of 2,
/// relative to the largest score of the row so far (`most`). Adds the weights to this thread's `total`.
/// Returns the factor by which what was summed before must be multiplied. Lanes lanes, which are Step apart,
/// share the row. With factor = 1 the largest weight is 1; otherwise it may be off by the rounding of its
/// score. Maxima and sums are computed in several short chains, since there are few warps to hide their
/// latency.
template <int N, int Lanes, int Step = 1, class C, class At>
__device__ C weigh(C& most, C& total, C factor, const At& at) {
  constexpr int chains = N % 4 == 0 ? 4 : 1;
  C of_chain[chains], sums[chains] = {};
#pragma unroll
  for (int j = 0; j < chains; ++j) of_chain[j] = at(j);
#pragma unroll
  for (int j = chains; j < N; ++j) of_chain[j % chains] = std::fmax(of_chain[j % chains], at(j));
#pragma unroll
  for (int j = 1; j < chains; ++j) of_chain[0] = std::fmax(of_chain[0], of_chain[j]);
#pragma unroll
  for (int half = Lanes / 2; half; half /= 2)
    of_chain[0] = std::fmax(of_chain[0], __shfl_xor_sync(~0u, of_chain[0], half * Step));
  const C largest = std::fmax(most, of_chain[0] * factor);
  const C from = largest == C(-INFINITY) ? C(0) : largest, rescaling = weight(most - from);
  most = largest, total *= rescaling;
#pragma unroll
  for (int j = 0; j < N; ++j) sums[j % chains] += at(j) = weight(at(j) * factor - from);
#pragma unroll
  for (int j = 0; j < chains; ++j) total += sums[j];
  return rescaling;
}

/// Starts copying Rows rows of d <= Width elements to shared memory, where they are Stride elements apart, in
/// pieces of type P. at(r) is the address of row r, or null. Elements and rows that do not exist become 0.
template <class P, int Rows, int Width, int Stride, int Threads, class T, class At>
__device__ void fetch_pieces(T* to, std::int64_t d, const At& at) {
  constexpr int w = int(sizeof(P) / sizeof(T)), across = Width / w;
  static_assert(Threads % across == 0);
  const int column = int(threadIdx.x) % across * w;
#pragma unroll 1  // copies do not wait for each other; unrolled by 2 the loop was slower on an H200
  for (int r = int(threadIdx.x) / across; r < Rows; r += Threads / across) {
    const T* const row = at(r);
    cuda::copy_async(reinterpret_cast<P*>(to + r * Stride + column),
                     row && column < d ? reinterpret_cast<const P*>(row + column) : nullptr);
  }
}
/// Does the same in the largest pieces that `unit` allows; all rows must begin at multiples of `unit` bytes.
template <int Rows, int Width, int Stride, int Threads, class T, class At>
__device__ void fetch_rows(T* to, std::int64_t d, int unit, const At& at) {
  if (unit == 16) return fetch_pieces<int4, Rows, Width, Stride, Threads>(to, d, at);
  if (unit == 8) return fetch_pieces<int2, Rows, Width, Stride, Threads>(to, d, at);
  if constexpr (sizeof(T) <= 4)
    if (unit == 4) return fetch_pieces<int, Rows, Width, Stride, Threads>(to, d, at);
  constexpr int at_once = 8;
  for (int first = int(threadIdx.x); first < Rows * Width; first += Threads * at_once) {
    T value[at_once];
#pragma unroll
    for (int n = 0; n < at_once; ++n) {
      const int i = first + n * Threads, column = i % Width;
      const T* const row = i < Rows * Width ? at(i / Width) : nullptr;
      value[n] = row && column < d ? row[column] : T(0.0f);
    }
#pragma unroll
    for (int n = 0; n < at_once; ++n)
      if (const int i = first + n * Threads; i < Rows * Width) to[i / Width * Stride + i % Width] = value[n];
  }
}

/// Starts copying the keys, or the values, of a step of a block, and closes a group of copies. `from` is the
/// first one of the group.
template <int Keys, int Width, int Stride, int Threads, class T>
__device__ void fetch_step(T* to, const AttentionCall<T>& c, const AttentionTile& tile, const T* from,
                           int step, int unit) {
  if (step < tile.last_step) {
    const T* const first = from + std::int64_t(step) * Keys * c.k_row;
    const int there = int(c.t) - step * Keys;
    fetch_rows<Keys, Width, Stride, Threads>(
        to, c.d, unit, [&](int r) { return r < there ? first + r * c.k_row : nullptr; });
  }
  cuda::commit_copies();
}

/// Where the result of a row is written: to y or, if the keys are split, to the arrays of its part.
template <class T>
struct AttentionResult {
  using C = Compute<T>;
  T* y = nullptr;
  C *sums = nullptr, *weights = nullptr;
  C factor = 0;
  std::int64_t d;

  /// `most` is the largest score of the row to the base 2, `total` the sum of its weights. The thread that
  /// `keeps` stores both for its part.
  __device__ AttentionResult(const AttentionCall<T>& c, const KeyParts<C>& p, const AttentionTile& tile,
                             std::int64_t row, C most, C total, bool keeps)
      : d(c.d) {
    if (p.parts > 1) {
      const std::int64_t at = (tile.part * c.groups + tile.group) * c.rows + row;
      sums = p.sums + at * d, weights = p.weights + at * 2;
      if (keeps) weights[0] = most, weights[1] = total;
    } else {
      y = c.y + c.query_at(tile.group, row);
      factor = total == 0 ? C(0) : 1 / total;
    }
  }
  /// Writes W neighbouring elements. Rows of y begin at multiples of `unit` bytes.
  template <int W>
  __device__ void put(int column, int unit, Pack<C, W> sum) const {
    if (sums) {
#pragma unroll
      for (int w = 0; w < W; ++w)
        if (column + w < d) sums[column + w] = sum.value[w];
      return;
    }
#pragma unroll
    for (int w = 0; w < W; ++w) sum.value[w] *= factor;
    const Pack<T, W> narrow = narrowed<T, W>(sum);
    if (unit >= int(sizeof(narrow))) {
      if (column < d) store_pack(y + column, narrow);
    } else {
#pragma unroll
      for (int w = 0; w < W; ++w)
        if (column + w < d) y[column + w] = narrow.value[w];
    }
  }
};

/// A block of combine_keys has 128 columns, 4 for each thread. It has 8 rows or, if there are many parts of
/// the keys, one row, whose parts are divided into 8 shares.
constexpr int combine_lanes = 32, combine_of_thread = 4, combine_columns = combine_lanes * combine_of_thread,
              combine_at_once = 4, combine_shares = 8, combine_block = combine_lanes * combine_shares;
KOLMO_HD constexpr int shares_of(int parts) { return parts < 16 ? 1 : combine_shares; }

/// The sums of W columns over some parts of the keys, relative to 2^most.
template <class C, int W>
struct SumOfKeys {
  C most, total;
  Pack<C, W> sum;

  __device__ void add(const SumOfKeys& other) {
    const C larger = other.most > most ? other.most : most, from = larger == C(-INFINITY) ? C(0) : larger,
            mine = weight(most - from), its = weight(other.most - from);
    most = larger, total = total * mine + other.total * its;
#pragma unroll
    for (int i = 0; i < W; ++i) sum.value[i] = sum.value[i] * mine + other.sum.value[i] * its;
  }
};

/// Computes y from the parts of the keys.
template <class T>
__global__ void __launch_bounds__(combine_block)
    combine_keys(cuda::EarlyStart early, AttentionCall<T> c, KeyParts<Compute<T>> p) {
  using C = Compute<T>;
  using Sum = SumOfKeys<C, combine_of_thread>;
  early.wait();
  __shared__ Sum of_share[combine_shares][combine_lanes];
  const int x = int(threadIdx.x) % combine_lanes, y = int(threadIdx.x) / combine_lanes,
            shares = shares_of(p.parts), share = y % shares, high = combine_shares / shares;
  const std::int64_t all = c.groups * c.rows, wide = (c.d + combine_columns - 1) / combine_columns,
                     blocks = (all + high - 1) / high * wide;
  for (std::int64_t i = blockIdx.x; i < blocks; i += gridDim.x) {
    const std::int64_t of_rows = quotient(i, wide), row = of_rows * high + y / shares,
                       first = (i - of_rows * wide) * combine_columns + x;
    const auto column = [&](int n) { return first + n * combine_lanes; };
    Sum of_all{C(-INFINITY)};
    for (int part = share; row < all && part < p.parts; part += shares * combine_at_once) {
      Sum of_part[combine_at_once] = {};
#pragma unroll
      for (int i = 0; i < combine_at_once; ++i) {
        const int its = part + i * shares;
        const std::int64_t at = its * all + row;
        of_part[i].most = C(-INFINITY);
        if (its >= p.parts) continue;
        of_part[i].most = p.weights[at * 2], of_part[i].total = p.weights[at * 2 + 1];
#pragma unroll
        for (int n = 0; n < combine_of_thread; ++n)
          if (column(n) < c.d) of_part[i].sum.value[n] = p.sums[at * c.d + column(n)];
      }
#pragma unroll
      for (int i = 0; i < combine_at_once; ++i) of_all.add(of_part[i]);
    }
    if (shares > 1) {
      __syncthreads();  // previous sums may still be read
      of_share[y][x] = of_all;
      __syncthreads();
    }
    if (share > 0 || row >= all) continue;
    for (int other = 1; other < shares; ++other) of_all.add(of_share[other][x]);
    T* const to = c.y + c.query_at(row / c.rows, row % c.rows);
#pragma unroll
    for (int n = 0; n < combine_of_thread; ++n)
      if (column(n) < c.d) to[column(n)] = T(of_all.total == 0 ? C(0) : of_all.sum.value[n] / of_all.total);
  }
}

}  // namespace
}  // namespace kolmo
