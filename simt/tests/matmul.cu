// Computes C (m x n) = A (m x k) B (k x n), all row-major, in tiles of 16x16.
#include "launch.cuh"

namespace {
constexpr int tile = 16;

template <class T>
__global__ void matmul_tiled(const T* __restrict__ A, const T* __restrict__ B, T* __restrict__ C, int m,
                             int n, int k) {
  __shared__ T a[tile][tile + 1];
  __shared__ T b[tile][tile];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * tile + ty, column = blockIdx.x * tile + tx;
  T sum = 0;
  for (int k0 = 0; k0 < k; k0 += tile) {
    a[ty][tx] = row < m && k0 + tx < k ? A[row * k + k0 + tx] : T(0);
    b[ty][tx] = k0 + ty < k && column < n ? B[(k0 + ty) * n + column] : T(0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < tile; ++i) sum += a[ty][i] * b[i][tx];
    __syncthreads();
  }
  if (row < m && column < n) C[row * n + column] = sum;
}
}  // namespace

namespace DEVICE {
void matmul(const float* A, const float* B, float* C, int m, int n, int k) {
  launch(matmul_tiled<float>, dim3((n + tile - 1) / tile, (m + tile - 1) / tile), dim3(tile, tile), 0,
         nullptr, A, B, C, m, n, k);
}
}  // namespace DEVICE
