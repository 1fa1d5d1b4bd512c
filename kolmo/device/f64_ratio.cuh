#pragma once
// f64_ratio(device) returns how many times as fast a GPU computes in f32 as in f64: 2 on those for data centres, up to 64 on
// others.
#ifndef SIMT
#include <cuda_runtime_api.h>
#endif

namespace kolmo::cuda {
namespace {

inline int f64_ratio(int device) {
#ifdef SIMT
  (void)device;
  return simt::f64_ratio;
#else
  thread_local int asked = -1, ratio = 2;  // asking the runtime each time would lengthen every call
  if (device == asked) return ratio;
  asked = device;
  if (cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, device) != cudaSuccess)
    cudaGetLastError(), ratio = 2;
  return ratio;
#endif
}

}  // namespace
}  // namespace kolmo::cuda
