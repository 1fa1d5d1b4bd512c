#pragma once
// CUDA's additions to C++: qualifiers, built-in variables, the stream type.

#include "simt/engine.hpp"

#define SIMT 1
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// `__noinline__` is not defined: glibc and libstdc++ use this token inside attributes.

// A block runs on one OS thread, so a shared variable is a thread-local one.
#define __shared__ SIMT_SHARED(__COUNTER__)
#define SIMT_SHARED(n) SIMT_SHARED_(n)
#define SIMT_SHARED_(n)                           \
  static thread_local simt::Guard simt_guard_##n; \
  simt::declare(simt_guard_##n);                  \
  static thread_local

/// Default argument of all functions that can report errors: the place of the call.
#define SIMT_AT const simt::Where& at = simt::Where::current()

using cudaStream_t = struct CUstream_st*;

namespace simt {
inline namespace cuda {
inline constinit thread_local uint3 threadIdx{}, blockIdx{};
inline constinit thread_local dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

enum cudaError_t { cudaSuccess = 0 };
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "no error"; }
}  // namespace cuda

SIMT_PLAIN inline int lane() {
  return static_cast<int>(((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) % 32);
}

}  // namespace simt

using namespace simt::cuda;
