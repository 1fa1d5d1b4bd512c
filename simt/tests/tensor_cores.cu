// Computes C (m x n, float) = A (m x k, row-major) B (k x n, column-major) in half or bfloat16; a block has 4
// warps with one tile each.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "launch.cuh"

namespace {
using namespace nvcuda;

template <class T>
__global__ void __launch_bounds__(128) multiply(const T* A, const T* B, float* C, int n, int k) {
  __shared__ __align__(32) T stage[4][16 * 16];  // A goes through shared memory, B directly from global
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = (blockIdx.y * 2 + warp / 2) * 16, column = (blockIdx.x * 2 + warp % 2) * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
  wmma::fill_fragment(c, 0.0f);
  for (int k0 = 0; k0 < k; k0 += 16) {
    for (int e = lane; e < 256; e += 32) stage[warp][e] = A[(row + e / 16) * k + k0 + e % 16];
    __syncwarp();
    wmma::load_matrix_sync(a, stage[warp], 16);
    wmma::load_matrix_sync(b, B + column * k + k0, k);
    wmma::mma_sync(c, a, b, c);
    __syncwarp();
  }
#pragma unroll
  for (int i = 0; i < c.num_elements; ++i) c.x[i] *= 2.0f;
  wmma::store_matrix_sync(C + row * n + column, c, n, wmma::mem_row_major);
}

template <class T>
__global__ void round_to(const float* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = T(x[i]);
}
}  // namespace

namespace DEVICE {
void round_to_half(const float* x, void* y, int n) {
  launch(round_to<half>, (n + 127) / 128, 128, 0, nullptr, x, static_cast<half*>(y), n);
}
void round_to_bfloat16(const float* x, void* y, int n) {
  launch(round_to<__nv_bfloat16>, (n + 127) / 128, 128, 0, nullptr, x, static_cast<__nv_bfloat16*>(y), n);
}
void multiply_half(const void* A, const void* B, float* C, int m, int n, int k) {
  launch(multiply<half>, dim3(n / 32, m / 32), 128, 0, nullptr, static_cast<const half*>(A),
         static_cast<const half*>(B), C, n, k);
}
void multiply_bfloat16(const void* A, const void* B, float* C, int m, int n, int k) {
  launch(multiply<__nv_bfloat16>, dim3(n / 32, m / 32), 128, 0, nullptr, static_cast<const __nv_bfloat16*>(A),
         static_cast<const __nv_bfloat16*>(B), C, n, k);
}
}  // namespace DEVICE
