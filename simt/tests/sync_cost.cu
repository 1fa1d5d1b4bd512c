// Kernels for the benchmark: the cost of a barrier, a shuffle and an empty thread.
#include "launch.cuh"

namespace {
__global__ void barriers(int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    __syncthreads();
    sum += i;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void shuffles(int* out, int n) {
  int v = int(threadIdx.x);
  for (int i = 0; i < n; ++i) v = __shfl_xor_sync(~0u, v, 1);
  out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
__global__ void empty(int* out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
}  // namespace

namespace DEVICE {
void run_barriers(int* out, int n, int blocks, int threads) {
  launch(barriers, blocks, threads, 0, nullptr, out, n);
}
void run_shuffles(int* out, int n, int blocks, int threads) {
  launch(shuffles, blocks, threads, 0, nullptr, out, n);
}
void run_empty(int* out, int blocks, int threads) { launch(empty, blocks, threads, 0, nullptr, out); }
}  // namespace DEVICE
