#pragma once
// Values of a row, as they are passed to `part` of a row operator (skeleton/row_op.hpp): held in the
// registers of a warp or a block, or read from memory by one thread.
#include <bit>
#include <cmath>
#include <cstdint>

#include "kolmo/base/convert.hpp"
#include "kolmo/device/grid.cuh"
#include "kolmo/device/read_once.cuh"
#include "kolmo/device/warp.cuh"

namespace kolmo::cuda {
namespace {

struct Larger {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a > b ? a : b;
  }
};
struct Plus {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a + b;
  }
};

/// Combines one value per thread over Threads lanes of a warp or, if Threads > 32, over a block of that many
/// threads. Every thread gets the same bits. All of them must call it.
template <int Threads, class C, class F>
__device__ C combine(C value, const F& f) {
  value = warp_reduce<(Threads < 32 ? Threads : 32)>(value, f);
  if constexpr (Threads > 32) {
    constexpr int warps = Threads / 32;
    __shared__ C part[warps];
    __syncthreads();  // the previous values may still be read
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    value = part[0];
#pragma unroll
    for (int w = 1; w < warps; ++w) value = f(value, part[w]);
  }
  return value;
}
/// Does the same for a number of threads that is known at run time: 1, 32, or all threads of the block.
template <class C, class F>
__device__ C combine_some(int threads, C value, const F& f) {
  if (threads == 1) return value;
  value = warp_reduce(value, f);
  if (threads == 32) return value;
  __shared__ C part[32];
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  value = part[0];
  for (int w = 1; w < threads / 32; ++w) value = f(value, part[w]);
  return value;
}

/// Up to Threads * E elements of a row, or of a part of one. Pack p of thread t holds the W elements from (p
/// Threads + t) W on, p = 0, 1, ... Packs are whole or absent: n is a multiple of W.
template <class T, int Threads, int W, int E>
struct RowTile {
  using C = Compute<T>;
  C value[E];
  int n, thread;

  __device__ RowTile(const T* row, int count, int thread_) : n(count), thread(thread_) {
    Pack<T, W>
        raw[E / W];  // without a branch all loads are in flight at once; absent packs read the first one
#pragma unroll
    for (int p = 0; p < E / W; ++p) raw[p] = load_pack<W>(row + (place(p) < n ? place(p) : 0));
#pragma unroll
    for (int p = 0; p < E / W; ++p) {
      const Pack<C, W> wide = widened(raw[p]);
#pragma unroll
      for (int w = 0; w < W; ++w) value[p * W + w] = wide.value[w];
    }
  }

  __device__ C count() const { return C(n); }
  __device__ int place(int p) const { return (p * Threads + thread) * W; }  ///< the first element of pack p
  /// Sum of f(element) over the row; f may change the element that it is given.
  template <class F>
  __device__ C sum(const F& f) {
    C total = 0;
    each([&](C& v) { total += f(v); });
    return combine<Threads>(total, Plus());
  }
  /// The largest element; -inf if every element is NaN.
  __device__ C largest() {
    C most = C(-INFINITY);
    each([&](C& v) { most = Larger()(v, most); });
    return combine<Threads>(most, Larger());
  }
  /// row[i] = f(W elements, index of the first); f returns a Pack<C, W>. `Once`: see device/read_once.cuh.
  template <bool Once = false, class F>
  __device__ void write(T* row, const F& f) const {
#pragma unroll
    for (int p = 0; p < E / W; ++p)
      if (place(p) < n) {
        const auto pack = narrowed<T, W>(f(value + p * W, place(p)));
        if constexpr (Once)
          write_once(row + place(p), pack);
        else
          store_pack(row + place(p), pack);
      }
  }

 private:
  template <class F>
  __device__ void each(const F& f) {
#pragma unroll
    for (int p = 0; p < E / W; ++p)
      if (place(p) < n) {
#pragma unroll
        for (int w = 0; w < W; ++w) f(value[p * W + w]);
      }
  }
};

/// A row of n elements that a thread, a warp or a block of `threads` threads reads from memory at each pass.
/// Sums are computed in double.
template <class T>
struct MemoryRow {
  using C = Compute<T>;
  const T* row;
  std::int64_t n;
  int thread, threads;

  __device__ C count() const { return C(n); }
  template <class F>
  __device__ C sum(const F& f) const {
    double total = 0;
    for (std::int64_t i = thread; i < n; i += threads) {
      C v = C(row[i]);
      total += double(f(v));
    }
    return C(combine_some(threads, total, Plus()));
  }
  __device__ C largest() const {
    C most = C(-INFINITY);
    for (std::int64_t i = thread; i < n; i += threads) most = Larger()(C(row[i]), most);
    return combine_some(threads, most, Larger());
  }
};

/// The result for a part of a row, cut into words for shuffles and shared memory.
template <class Part>
struct PartWords {
  std::uint32_t word[sizeof(Part) / 4];
};

/// Joins the parts of Lanes neighbouring lanes of a warp in their order; each lane gets the same bits.
template <int Lanes, class Part>
__device__ Part join_warp(Part all) {
#pragma unroll
  for (int half = 1; half < Lanes; half *= 2) {
    auto words = std::bit_cast<PartWords<Part>>(all);
#pragma unroll
    for (auto& word : words.word) word = __shfl_xor_sync(~0u, word, half);
    const auto other = std::bit_cast<Part>(words);
    all = threadIdx.x & half ? join(other, all) : join(all, other);
  }
  return all;
}

/// Joins the parts of a row in their order by a block; its first warp gets the result.
template <int Threads, class Part>
__device__ Part join_parts(const Part* part, std::int64_t parts) {
  const std::int64_t share = (parts + Threads - 1) / Threads, begin = threadIdx.x * share;
  Part all{};
  for (std::int64_t p = begin; p < begin + share && p < parts; ++p) all = join(all, part[p]);
  __shared__ PartWords<Part> of_warp[32];
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  all = join_warp<32>(all);
  __syncthreads();
  if (lane == 0) of_warp[warp] = std::bit_cast<PartWords<Part>>(all);
  __syncthreads();
  if (warp != 0) return all;
  return join_warp<Threads / 32>(lane < Threads / 32 ? std::bit_cast<Part>(of_warp[lane]) : Part{});
}

}  // namespace
}  // namespace kolmo::cuda
