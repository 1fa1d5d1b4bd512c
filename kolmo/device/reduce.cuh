#pragma once
// Runs the jobs of base/sums.hpp in kernels. Anonymous namespace: see device/grid.cuh.
#include <cstdint>
#include <iterator>

#include "kolmo/base/sums.hpp"
#include "kolmo/device/grid.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo::cuda {
namespace {

/// How a block of 256 threads shares out sums: `threads` together take one sum, each holds `lanes` lanes of
/// it. Shapes of fewer than sum_lanes lanes can only take that many terms.
struct SumShape {
  int threads, lanes;
  constexpr int width() const { return threads * lanes; }
};
constexpr SumShape sum_shapes[] = {{8, 4}, {32, 8}, {256, 1}};
constexpr int sum_block = 256;

/// The row of sum_shapes for sums of `terms` terms; a block takes those of more than `block_above`.
constexpr int sum_shape(std::int64_t terms, std::int64_t block_above) {
  return terms > block_above ? 2 : terms > sum_shapes[0].width() ? 1 : 0;
}
template <int Shape>
unsigned sum_blocks(std::int64_t items) {
  return blocks(items, sum_block / sum_shapes[Shape].threads);
}

template <int N>
__device__ inline Sums<N> shuffle_xor(const Sums<N>& s, int mask) {
  Sums<N> other;
#pragma unroll
  for (int i = 0; i < N; ++i) other.value[i] = __shfl_xor_sync(~0u, s.value[i], mask);
  return other;
}

/// Adds lanes t, t + Threads, ... of each thread, then across Threads (at most a warp) threads.
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

/// Every thread of the block must call it; the group's first thread gets the sum.
template <int Threads, int Lanes, int N, class Terms>
__device__ inline Sums<N> group_sum(const Terms& terms, std::int64_t n, int thread) {
  static_assert(Threads <= 32 || Threads * Lanes == sum_lanes);
  Sums<N> lane[Lanes] = {};
  for (std::int64_t first = thread; first < n; first += Threads * Lanes)
#pragma unroll
    for (int a = 0; a < Lanes; ++a)
      if (first + a * Threads < n) lane[a] = lane[a] + terms(first + a * Threads);
  if constexpr (Threads <= 32) {
    return tree<Threads>(lane);
  } else {
    static_assert(Lanes == 1 && Threads == sum_block);
    __shared__ double part[N][sum_lanes];
    __syncthreads();  // the first warp may still read the sums before these
#pragma unroll
    for (int i = 0; i < N; ++i) part[i][thread] = lane[0].value[i];
    __syncthreads();
    if (thread >= 32) return {};
    Sums<N> of_warp[sum_lanes / 32];
#pragma unroll
    for (int a = 0; a < sum_lanes / 32; ++a)
#pragma unroll
      for (int i = 0; i < N; ++i) of_warp[a].value[i] = part[i][thread + a * 32];
    return tree<32>(of_warp);
  }
}

/// The items of a job, in shape sum_shapes[Shape]; blocks of sum_block threads.
template <int Shape, class Job>
__global__ void __launch_bounds__(sum_block) sum_items(Job job, std::int64_t items) {
  constexpr int threads = sum_shapes[Shape].threads, lanes = sum_shapes[Shape].lanes,
                groups = sum_block / threads;
  const int thread = int(threadIdx.x) % threads, group = int(threadIdx.x) / threads;
  for (std::int64_t first = std::int64_t(blockIdx.x) * groups; first < items;
       first += std::int64_t(gridDim.x) * groups) {
    const bool active = first + group < items;  // idle groups take part in shuffles and barriers
    const std::int64_t item = active ? first + group : first;
    const auto sum =
        group_sum<threads, lanes, Job::sums>(job.terms(item), active ? job.length(item) : 0, thread);
    if (active && thread == 0) job.finish(item, sum);
  }
}

/// What sum_rows and sum_tables (base/entropy.hpp) start a job with: a block takes sums of more than
/// sum_block_above[variant] terms.
constexpr std::int64_t sum_block_above[] = {1024, 256, sum_chunk};
struct SumItems {
  cudaStream_t stream;
  int variant;
  template <class Job>
  void operator()(const Job& job, std::int64_t items, std::int64_t terms) const {
    select<std::size(sum_shapes)>(sum_shape(terms, sum_block_above[variant]), [&]<int V> {
      cuda::launch(sum_items<V, Job>, sum_blocks<V>(items), sum_block, 0, stream, job, items);
    });
  }
};

}  // namespace
}  // namespace kolmo::cuda
