// Deliberately wrong kernels: data races, which a fixed schedule may hide.
#include "../tests/launch.cuh"

namespace {
__global__ void reversed(int* out) {
  __shared__ int v[64];
  v[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = v[63 - threadIdx.x];  // no barrier between the write and the other thread's read
}
__global__ void tiles(const int* A, const int* B, int* C, int n) {
  __shared__ int a[16][16];
  __shared__ int b[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  int sum = 0;
  for (int k0 = 0; k0 < n; k0 += 16) {
    a[ty][tx] = A[row * n + k0 + tx];
    b[ty][tx] = B[(k0 + ty) * n + column];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += a[ty][i] * b[i][tx];
  }  // the second barrier is missing
  C[row * n + column] = sum;
}
__global__ void warp_sum(int* x) {  // warp-synchronous style without __syncwarp
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x], s[threadIdx.x + 32] = 0;
  for (int o = 16; o; o >>= 1)
    if (int(threadIdx.x) < o) s[threadIdx.x] += s[threadIdx.x + o];
  x[threadIdx.x] = s[0];
}
__device__ int block_sum(int v) {
  __shared__ int part[32];
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : 0;
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
  return v;  // no barrier before the next call writes part[]
}
__global__ void reused(int* x) {
  const int first = block_sum(x[threadIdx.x]);
  x[threadIdx.x] = block_sum(x[threadIdx.x] * first);
}
__global__ void blocks(int* x) { x[0] += 1; }  // should be atomicAdd
__global__ void neighbours(int* x) {           // should write to another array
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i) x[i] = x[i - 1];
}
}  // namespace

namespace bad {
void race_reversed(int* out) { launch(reversed, 1, 64, 0, nullptr, out); }
void race_tiles(int* out) {
  launch(tiles, dim3(2, 2), dim3(16, 16), 0, nullptr, out, out + 1024, out + 2048, 32);
}
void race_warp(int* out) { launch(warp_sum, 1, 32, 0, nullptr, out); }
void race_reused(int* out) { launch(reused, 1, 256, 0, nullptr, out); }
void race_blocks(int* out) { launch(blocks, 2, 1, 0, nullptr, out); }
void race_neighbours(int* out) { launch(neighbours, 8, 32, 0, nullptr, out); }
}  // namespace bad
