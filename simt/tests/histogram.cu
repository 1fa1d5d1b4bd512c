// Counts integers in [0, bins): each block has a private copy in dynamic shared memory, which global atomics
// merge. Also computes the sum of half a unit per element, added directly to global memory.
#include "launch.cuh"

namespace {
__global__ void count(const int* __restrict__ x, unsigned* __restrict__ counts, float* __restrict__ sums,
                      int n, int bins) {
  unsigned* mine = dynamic_shared<unsigned>();
  for (int b = threadIdx.x; b < bins; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&mine[x[i]], 1u);
    atomicAdd(&sums[x[i]], 0.5f);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x)
    if (mine[b]) atomicAdd(&counts[b], mine[b]);
}
}  // namespace

namespace DEVICE {
void histogram(const int* x, unsigned* counts, float* sums, int n, int bins, int blocks) {
  launch(count, blocks, 256, bins * sizeof(unsigned), nullptr, x, counts, sums, n, bins);
}
}  // namespace DEVICE
