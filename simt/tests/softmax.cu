// Computes the softmax of each row, one block per row, by reductions with a reused shared array.
#include <cmath>

#include "launch.cuh"

namespace {
struct Max {
  template <class T>
  __device__ static T of(T a, T b) {
    return max(a, b);
  }
};
struct Sum {
  template <class T>
  __device__ static T of(T a, T b) {
    return a + b;
  }
};

template <class Op, class T>
__device__ T block_reduce(T v, T neutral) {
  __shared__ T part[32];
  for (int o = 16; o; o >>= 1) v = Op::of(v, __shfl_xor_sync(~0u, v, o));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : neutral;
  for (int o = 16; o; o >>= 1) v = Op::of(v, __shfl_xor_sync(~0u, v, o));
  __syncthreads();  // before the next call writes part[]
  return v;
}

template <class T>
__global__ void softmax_rows(const T* x, T* y, int n) {
  const T* row = x + blockIdx.x * n;
  T highest = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) highest = max(highest, row[i]);
  highest = block_reduce<Max>(highest, T(-INFINITY));
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += exp(row[i] - highest);
  sum = block_reduce<Sum>(sum, T(0));
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = exp(row[i] - highest) / sum;
}
}  // namespace

namespace DEVICE {
void softmax(const float* x, float* y, int rows, int n, int block) {
  launch(softmax_rows<float>, rows, block, 0, nullptr, x, y, n);
}
void softmax(const double* x, double* y, int rows, int n, int block) {
  launch(softmax_rows<double>, rows, block, 0, nullptr, x, y, n);
}
}  // namespace DEVICE
