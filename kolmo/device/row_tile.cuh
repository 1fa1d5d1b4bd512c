#pragma once
// Rows of a matrix held in the registers of a warp or a block. Anonymous namespace: see device/grid.cuh.
#include <cstdint>

#include "kolmo/base/half.hpp"
#include "kolmo/base/pack.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/device/grid.cuh"

namespace kolmo::cuda {
namespace {

/// Elements of a row that a thread may hold: 128 bytes of registers.
template <class T>
inline constexpr int tile_elements = 128 / int(sizeof(Compute<T>));

/// Up to Threads * E elements of a row, or of a part of one. Thread t holds, in packs of W, the elements from
/// (p Threads + t) W on, p = 0, 1, ... Packs are whole or absent: n is a multiple of W.
template <class T, int Threads, int W, int E>
struct RowTile {
  Compute<T> value[E];
  int n, thread;

  /// Calls f(W elements, place of the first in the row) for every pack that is there.
  template <class F>
  __device__ void each_pack(const F& f) {
#pragma unroll
    for (int p = 0; p < E / W; ++p)
      if (const int first = (p * Threads + thread) * W; first < n) f(value + p * W, first);
  }
  /// Calls f(element) for every element that is there.
  template <class F>
  __device__ void each(const F& f) {
    each_pack([&](Compute<T>* v, int) {
#pragma unroll
      for (int w = 0; w < W; ++w) f(v[w]);
    });
  }
  __device__ void load(const T* row) {
    each_pack([&](Compute<T>* v, int first) {
      const Pack<T, W> pack = load_pack<W>(row + first);
#pragma unroll
      for (int w = 0; w < W; ++w) v[w] = Compute<T>(pack.value[w]);
    });
  }
  __device__ void store(T* row) {
    each_pack([&](const Compute<T>* v, int first) {
      Pack<T, W> pack;
#pragma unroll
      for (int w = 0; w < W; ++w) pack.value[w] = T(v[w]);
      store_pack(row + first, pack);
    });
  }
};

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

/// The combination of the values of a warp or, with Threads > 32, of a block of that many; every thread gets
/// the same bits. All threads must call it.
template <int Threads, class C, class F>
__device__ C combine(C value, const F& f) {
#pragma unroll
  for (int half = 16; half; half /= 2) value = f(value, __shfl_xor_sync(~0u, value, half));
  if constexpr (Threads > 32) {
    constexpr int warps = Threads / 32;
    __shared__ C part[warps];
    __syncthreads();  // the values before these may still be read
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    value = part[0];
#pragma unroll
    for (int w = 1; w < warps; ++w) value = f(value, part[w]);
  }
  return value;
}

/// Calls f.operator()<W, E>() with the width of reads and the elements per thread for rows of k held by
/// Threads threads. E is tile_elements, or for a warp a quarter of it if that is enough.
template <class T, int Threads, class F>
void select_tile(bool packed, std::int64_t k, const F& f) {
  constexpr int all = tile_elements<T>, few = Threads == 32 ? all / 4 : all;
  const auto with = [&]<int W> {
    k <= Threads* few ? f.template operator()<W, few>() : f.template operator()<W, all>();
  };
  packed ? with.template operator()<pack_width<T>>() : with.template operator()<1>();
}

/// Parts that rows of k are cut into so that a block of `threads` holds each.
template <class T>
constexpr std::int64_t tile_parts(std::int64_t k, int threads) {
  const std::int64_t part = std::int64_t(threads) * tile_elements<T>;
  return (k + part - 1) / part;
}

/// Part `item % parts` of row `item / parts`; `begin` is its place in the row.
template <class T, int Block, int W>
__device__ RowTile<T, Block, W, tile_elements<T>> load_part(const T* x, std::int64_t k, std::int64_t parts,
                                                            std::int64_t item, std::int64_t& begin) {
  constexpr std::int64_t part = Block * tile_elements<T>;
  const std::int64_t row = quotient(item, parts);
  begin = (item - row * parts) * part;
  RowTile<T, Block, W, tile_elements<T>> tile;
  tile.n = int(k - begin < part ? k - begin : part), tile.thread = int(threadIdx.x);
  tile.load(x + row * k + begin);
  return tile;
}

}  // namespace
}  // namespace kolmo::cuda
