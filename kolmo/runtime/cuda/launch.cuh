#pragma once
// All kernels are started by launch(kernel, grid, block, shared_bytes, stream, arguments...). Dynamic shared
// memory is accessed through dynamic_shared<T>(). The emulated GPU has its own versions of these two
// functions.
#include <cuda_runtime.h>

#include <string>
#include <utility>

#include "kolmo/base/error.hpp"
#include "kolmo/runtime/launch_log.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo::cuda {

inline cudaStream_t native(const Stream& s) {
#ifdef SIMT
  (void)s;  // an emulated launch has finished when it returns
  return nullptr;
#else
  return static_cast<cudaStream_t>(s.native());
#endif
}

/// Whether the launch was logged instead of run (LaunchLog).
inline bool logged(const void* kernel, dim3 grid, dim3 block, std::size_t shared) {
  LaunchLog* const log = LaunchLog::current();
  if (log) log->launches.push_back({kernel, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared});
  return log != nullptr;
}

#ifdef SIMT
using simt::dynamic_shared;

/// A function object, so that argument-dependent look-up does not find simt::launch as well.
struct Launcher {
  template <class... P, class... A>
  void operator()(void (*kernel)(P...), simt::Grid grid, dim3 block, std::size_t shared, cudaStream_t stream,
                  A&&... args) const {
    if (logged(reinterpret_cast<const void*>(kernel), grid, block, shared)) return;
    simt::launch(kernel, grid, block, shared, stream, std::forward<A>(args)...);
  }
};
inline constexpr Launcher launch;
#else
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char kolmo_dynamic_shared[];
  return reinterpret_cast<T*>(kolmo_dynamic_shared);
}

inline void check_launch(cudaError_t e) {
  if (e != cudaSuccess) fail<DeviceError>(std::string("cuda: launch failed: ") + cudaGetErrorString(e));
}

template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream,
            A&&... args) {
  if (logged(reinterpret_cast<const void*>(kernel), grid, block, shared)) return;
  constexpr std::size_t without_opt_in = 48 * 1024;
  if (shared > without_opt_in)
    check_launch(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)));
  kernel<<<grid, block, shared, stream>>>(P(std::forward<A>(args))...);
  check_launch(cudaGetLastError());
}
#endif

}  // namespace kolmo::cuda
