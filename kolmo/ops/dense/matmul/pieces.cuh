#pragma once
// Pieces of the factors of matmul on their way into shared memory. Anonymous namespace: see device/grid.cuh.
#include <cstdint>
#include <type_traits>

#include "kolmo/base/pack.hpp"
#include "kolmo/device/async.cuh"

namespace kolmo {
namespace {

/// What fetch() does where packs are not possible.
template <class T, int Depth, int Extent, int Threads, int Row>
__device__ void fetch_elements(T (*to)[Row], const T* from, int k0, int e0, int depth, int extent) {
#pragma unroll 1
  for (int i = int(threadIdx.x); i < Depth * Extent; i += Threads) {
    const int d = i / Extent, e = i % Extent;
    const bool inside = k0 + d < depth && e0 + e < extent;
    const T* const at = from + (std::int64_t(k0 + d) * extent + e0 + e);
    if constexpr (sizeof(T) >= 4)
      cuda::copy_async(&to[d][e], inside ? at : nullptr);
    else
      to[d][e] = inside ? *at : T(0.0f);
  }
}

/// The same in a function, so that it takes no registers from the way that matters.
template <class T, int Depth, int Extent, int Threads, int Row>
[[gnu::noinline]] __device__ void call_fetch_elements(T (*to)[Row], const T* from, int k0, int e0, int depth,
                                                      int extent) {
  fetch_elements<T, Depth, Extent, Threads>(to, from, k0, e0, depth, extent);
}

/// Starts copying `Depth` by `Extent` elements of a matrix from (k0, e0) on; elements outside the matrix
/// become 0. The matrix is depth x extent, or extent x depth if Turned. Rows in shared memory are indexed by
/// depth.
template <class T, int Depth, int Extent, int Threads, bool Turned, int Row>
__device__ void fetch(T (*to)[Row], const T* from, int k0, int e0, int depth, int extent, bool packs) {
  const int thread = int(threadIdx.x);
  if (Turned || packs) {
    // The copies of a thread are in one column of the matrix, `down` rows apart.
    using Copied = std::conditional_t<Turned, T, Pack<T, pack_width<T>>>;
    constexpr int width = sizeof(Copied) / sizeof(T), across = (Turned ? Depth : Extent / width),
                  down = Threads / across, copies = Depth * Extent / width / Threads;
    static_assert(Threads % across == 0 && copies * Threads * width == Depth * Extent);
    const int column = thread % across * width, row = thread / across;
    const int first = Turned ? e0 + row : k0 + row, rows = Turned ? extent : depth,
              columns = Turned ? depth : extent;
    const bool inside = (Turned ? k0 : e0) + column < columns;
    const T* at = from + (std::int64_t(first) * columns + (Turned ? k0 : e0) + column);
#pragma unroll
    for (int i = 0; i < copies; ++i, at += std::int64_t(down) * columns) {
      const int r = row + i * down;
      const bool there = inside && first + i * down < rows;
      auto* const place = reinterpret_cast<Copied*>(Turned ? &to[column][r] : &to[r][column]);
      if constexpr (sizeof(T) ==
                    8)  // waits for its loads rather than for issue slots: 10 % slower with one instruction
        cuda::copy_async(place, there ? reinterpret_cast<const Copied*>(at) : nullptr);
      else
        cuda::copy_async(place, reinterpret_cast<const Copied*>(at), there);
    }
  } else {
    if constexpr (sizeof(T) == 2)
      call_fetch_elements<T, Depth, Extent, Threads>(to, from, k0, e0, depth, extent);
    else
      fetch_elements<T, Depth, Extent, Threads>(to, from, k0, e0, depth, extent);
  }
}

}  // namespace
}  // namespace kolmo
