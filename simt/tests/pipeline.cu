// Sums each tile of 64 elements of a row, read through a ring of asynchronously filled tiles.
#include <cuda_pipeline.h>

#include "launch.cuh"

namespace {
constexpr int tile = 64, stages = 3;

__device__ void fetch(float* to, const float* x, int first, int n) {
  const int i = 4 * threadIdx.x;  // each thread copies 16 bytes; past the end, zeros
  if (i >= tile) return;
  const int left = n - first - i, missing = left >= 4 ? 0 : left <= 0 ? 4 : 4 - left;
  __pipeline_memcpy_async(to + i, x + (missing == 4 ? 0 : first + i), 16, missing * sizeof(float));
}

__global__ void tile_sums(const float* x, float* sums, int n) {
  __shared__ __align__(16) float ring[stages][tile];
  const int tiles = (n + tile - 1) / tile;
  for (int s = 0; s < stages - 1; ++s) {
    if (s < tiles) fetch(ring[s], x, s * tile, n);
    __pipeline_commit();
  }
  for (int t = 0; t < tiles; ++t) {
    if (t + stages - 1 < tiles) fetch(ring[(t + stages - 1) % stages], x, (t + stages - 1) * tile, n);
    __pipeline_commit();
    __pipeline_wait_prior(stages - 1);
    __syncthreads();
    float sum = threadIdx.x < tile ? ring[t % stages][threadIdx.x] : 0.0f;
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0) atomicAdd(&sums[t], sum);
    __syncthreads();
  }
}
}  // namespace

namespace DEVICE {
void sums_of_tiles(const float* x, float* sums, int n) { launch(tile_sums, 1, 64, 0, nullptr, x, sums, n); }
}  // namespace DEVICE
