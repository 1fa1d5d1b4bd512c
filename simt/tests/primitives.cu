// The warp and block primitives, checked inside the kernel: `failed` receives the line of the last failed
// check.
#include <cuda_fp16.h>

#include "launch.cuh"

#define EXPECT(condition) \
  if (!(condition)) atomicMax(failed, __LINE__)

namespace {
__global__ void warp_functions(int* failed) {
  const unsigned lane = threadIdx.x % 32;
  EXPECT(__shfl_sync(~0u, lane, 5) == 5);
  EXPECT(__shfl_sync(~0u, lane, 9, 8) == (lane & ~7u) + 1);
  EXPECT(__shfl_up_sync(~0u, lane, 3) == (lane < 3 ? lane : lane - 3));
  EXPECT(__shfl_up_sync(~0u, lane, 3, 8) == (lane % 8 < 3 ? lane : lane - 3));
  EXPECT(__shfl_down_sync(~0u, lane, 3) == (lane > 28 ? lane : lane + 3));
  EXPECT(__shfl_down_sync(~0u, lane, 3, 8) == (lane % 8 > 4 ? lane : lane + 3));
  EXPECT(__shfl_xor_sync(~0u, double(lane), 16) == double(lane ^ 16));
  EXPECT(__shfl_xor_sync(~0u, lane, 12, 8) == (lane & 8 ? lane ^ 12 : lane));
  EXPECT(__shfl_xor_sync(~0u, (long long)lane << 40, 1) == (long long)(lane ^ 1) << 40);
  EXPECT(__half2float(__shfl_xor_sync(~0u, __float2half(float(lane)), 2)) == float(lane ^ 2));
  if (lane < 12) {  // uses partial masks, in both branches at once
    EXPECT(__shfl_sync(0xfffu, lane, 11) == 11);
    EXPECT(__ballot_sync(0xfffu, lane % 2) == 0xaaau);
  } else {
    EXPECT(__shfl_down_sync(0xfffff000u, lane, 1) == (lane == 31 ? 31 : lane + 1));
    EXPECT(__all_sync(0xfffff000u, lane >= 12) && !__any_sync(0xfffff000u, lane < 12));
  }
  if (lane < 20) EXPECT(__activemask() == 0xfffffu);
  EXPECT(__match_any_sync(~0u, lane / 8) == 0xffu << lane / 8 * 8);
  int all;
  EXPECT(__match_all_sync(~0u, 7, &all) == ~0u && all);
  EXPECT(__match_all_sync(~0u, lane, &all) == 0 && !all);
  EXPECT(__reduce_add_sync(~0u, lane) == 496 && __reduce_max_sync(~0u, lane) == 31);
  EXPECT(__reduce_min_sync(~0u, int(lane) - 7) == -7);
  EXPECT(__reduce_or_sync(~0u, 1u << lane) == ~0u && __reduce_and_sync(~0u, ~(1u << lane)) == 0);
  EXPECT(__reduce_xor_sync(~0u, lane) == 0);
  __syncwarp();
}

__global__ void block_functions(int* failed) {
  const unsigned n = blockDim.x;
  EXPECT(__syncthreads_count(threadIdx.x % 3 == 0) == int(n + 2) / 3);
  EXPECT(__syncthreads_and(threadIdx.x < n));
  EXPECT(!__syncthreads_and(threadIdx.x < 3));
  EXPECT(__syncthreads_or(threadIdx.x == 40));
  EXPECT(!__syncthreads_or(threadIdx.x == n));
  __shared__ unsigned order[1024];
  order[threadIdx.x] = threadIdx.x;
  __syncthreads();
  EXPECT(order[n - 1 - threadIdx.x] == n - 1 - threadIdx.x);
}

__global__ void partial_warp(int* failed) {  // 40 threads: the second warp has 8 lanes
  const unsigned mask = threadIdx.x < 32 ? 0xffffffffu : 0xffu, lane = threadIdx.x % 32;
  int v = threadIdx.x;
  for (int o = 4; o; o >>= 1) v += __shfl_down_sync(mask, v, o, 8);
  EXPECT(lane % 8 || v == int(threadIdx.x) * 8 + 28);
  EXPECT(__ballot_sync(mask, 1) == mask && __activemask() == mask);
  EXPECT(__syncthreads_count(1) == 40);
}

__global__ void coordinates(int* seen) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  __syncthreads();
  atomicAdd(&seen[block * blockDim.x * blockDim.y * blockDim.z + thread], 1);
}
}  // namespace

namespace DEVICE {
void check_warp_functions(int* failed, int threads) {
  launch(warp_functions, 8, threads, 0, nullptr, failed);
}
void check_block_functions(int* failed, int threads) {
  launch(block_functions, 8, threads, 0, nullptr, failed);
}
void check_partial_warp(int* failed) { launch(partial_warp, 5, 40, 0, nullptr, failed); }
void mark_coordinates(int* seen) { launch(coordinates, dim3(2, 3, 4), dim3(5, 6, 7), 0, nullptr, seen); }
}  // namespace DEVICE
