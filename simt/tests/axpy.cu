// Computes y = a x + y with loads of four floats, and the remaining elements one by one.
#include "launch.cuh"

namespace {
__global__ void __launch_bounds__(256)
    axpy(const float* __restrict__ x, float* __restrict__ y, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i + 3 < n) {
    const float4 u = __ldg(reinterpret_cast<const float4*>(x) + i);
    float4 v = reinterpret_cast<float4*>(y)[i];
    v.x = fmaf(a, u.x, v.x), v.y = fmaf(a, u.y, v.y), v.z = fmaf(a, u.z, v.z), v.w = fmaf(a, u.w, v.w);
    reinterpret_cast<float4*>(y)[i] = v;
  } else {
    for (int k = 4 * i; k < n; ++k) y[k] = fmaf(a, x[k], y[k]);
  }
}
}  // namespace

namespace DEVICE {
void axpy(const float* x, float* y, float a, int n) {
  launch(::axpy, ((n + 3) / 4 + 255) / 256, 256, 0, nullptr, x, y, a, n);
}
}  // namespace DEVICE
