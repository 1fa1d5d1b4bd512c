// Computes the inclusive prefix sum of rows of 1024: shuffles within warps, one shared array across warps.
#include "launch.cuh"

namespace {
template <class T>
__device__ __forceinline__ T warp_scan(T v) {
  const int lane = threadIdx.x & 31;
#pragma unroll
  for (int o = 1; o < 32; o <<= 1) {
    const T up = __shfl_up_sync(0xffffffffu, v, o);
    if (lane >= o) v += up;
  }
  return v;
}

template <class T>
__global__ void __launch_bounds__(1024) scan_rows(const T* __restrict__ x, T* __restrict__ y) {
  __shared__ T total[32];
  const int i = blockIdx.x * 1024 + threadIdx.x, warp = threadIdx.x / warpSize;
  const T v = warp_scan(x[i]);
  if (threadIdx.x % 32 == 31) total[warp] = v;
  __syncthreads();
  if (warp == 0) total[threadIdx.x] = warp_scan(total[threadIdx.x]);
  __syncthreads();
  y[i] = v + (warp ? total[warp - 1] : T(0));
}
}  // namespace

namespace DEVICE {
void scan(const float* x, float* y, int rows) { launch(scan_rows<float>, rows, 1024, 0, nullptr, x, y); }
void scan(const double* x, double* y, int rows) { launch(scan_rows<double>, rows, 1024, 0, nullptr, x, y); }
}  // namespace DEVICE
