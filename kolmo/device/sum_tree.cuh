#pragma once
// Adds the lanes of a sum in the order of base/sums.hpp, by a group of threads, a warp or a block.
#include <cstdint>

#include "kolmo/base/sums.hpp"
#include "kolmo/device/grid.cuh"

namespace kolmo::cuda {
namespace {

constexpr int sum_block = 256;

template <int N>
__device__ inline Sums<N> shuffle_xor(const Sums<N>& s, int mask) {
  Sums<N> other;
#pragma unroll
  for (int i = 0; i < N; ++i) other.value[i] = __shfl_xor_sync(~0u, s.value[i], mask);
  return other;
}

/// Adds the lanes that each of Threads threads (at most a warp) holds, where lane[a] of thread t is lane t +
/// a * Threads; then adds the results of the threads.
template <int Threads, int Lanes, int N>
__device__ inline Sums<N> tree(Sums<N> (&lane)[Lanes]) {
#pragma unroll
  for (int half = Lanes / 2; half; half /= 2)
#pragma unroll
    for (int a = 0; a < half; ++a) lane[a] = lane[a] + lane[a + half];
  Sums<N> sum = lane[0];
#pragma unroll
  for (int half = Threads / 2; half; half /= 2) sum = sum + shuffle_xor(sum, half);
  return sum;
}

/// Adds the lanes of a sum by a block, each thread of which holds one lane. The first thread gets the sum.
template <int N>
__device__ inline Sums<N> tree_of_block(const Sums<N>& lane, int thread) {
  static_assert(sum_block == sum_lanes);
  __shared__ double part[N][sum_lanes];
  __syncthreads();  // the first warp may still be reading the previous sums
#pragma unroll
  for (int i = 0; i < N; ++i) part[i][thread] = lane.value[i];
  __syncthreads();
  if (thread >= 32) return {};
  Sums<N> of_warp[sum_lanes / 32];
#pragma unroll
  for (int a = 0; a < sum_lanes / 32; ++a)
#pragma unroll
    for (int i = 0; i < N; ++i) of_warp[a].value[i] = part[i][thread + a * 32];
  return tree<32>(of_warp);
}

/// Adds the lanes of a sum by a warp, where thread t holds the lanes t W, t W + 1, ... in lane[0], lane[1],
/// ... In each step two threads exchange lanes: one goes on with the lower half of both, the other with the
/// upper half, so that each step exchanges half as many lanes as the one before.
template <int W, int L, int N>
__device__ inline Sums<N> tree_of_wide(Sums<N> (&lane)[L], int thread) {
  int width = W;
#pragma unroll
  for (int half = 16; half; half /= 2) {
    if (width == 1) {
      lane[0] = lane[0] + shuffle_xor(lane[0], half);
      continue;
    }
    width /= 2;
    const bool upper = thread & half;
#pragma unroll
    for (int w = 0; w < width; ++w) {
      Sums<N> kept, passed;
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const double low = lane[w].value[i], high = lane[w + width].value[i];
        kept.value[i] = upper ? high : low, passed.value[i] = upper ? low : high;
      }
      lane[w] = kept + shuffle_xor(passed, half);
    }
  }
#pragma unroll
  for (int half = 16; half > 16 / W; half /= 2) lane[0] = lane[0] + shuffle_xor(lane[0], half);
  return lane[0];
}

}  // namespace
}  // namespace kolmo::cuda
