#pragma once
// All kernels are started by launch(kernel, grid, block, shared_bytes, stream, arguments...). Dynamic shared
// memory is accessed through dynamic_shared<T>(). The emulated GPU has its own versions of these two
// functions.
//
// launch_early(...) may let the kernel start while the one before it in the stream still runs, which hides the time that
// a launch takes. The first parameter of such a kernel is an EarlyStart, which it waits for before it touches memory.
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

struct EarlyStart {
  /// Waits until the kernels queued before have finished, and lets the next one start. Every thread must call
  /// it.
  __device__ void wait() const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;\ngriddepcontrol.wait;" ::: "memory");
#endif
  }
};

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

struct EarlyLauncher {
  template <class... P, class... A>
  void operator()(void (*kernel)(EarlyStart, P...), simt::Grid grid, dim3 block, std::size_t shared,
                  cudaStream_t stream, A&&... args) const {
    launch(kernel, grid, block, shared, stream, EarlyStart{}, std::forward<A>(args)...);
  }
};
inline constexpr EarlyLauncher launch_early;

struct ChosenLauncher {
  template <class... P, class... A>
  void operator()(bool, void (*kernel)(EarlyStart, P...), simt::Grid grid, dim3 block, std::size_t shared,
                  cudaStream_t stream, A&&... args) const {
    launch(kernel, grid, block, shared, stream, EarlyStart{}, std::forward<A>(args)...);
  }
};
inline constexpr ChosenLauncher launch_early_if;
#else
template <class T>
__device__ T* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char kolmo_dynamic_shared[];
  return reinterpret_cast<T*>(kolmo_dynamic_shared);
}

/// Whether it pays to start a grid early. A few blocks for each multiprocessor would not spread evenly beside
/// those of the kernel before. Many blocks each pay for their wait, and take so long that the time of the
/// launch matters little.
constexpr bool early_pays(unsigned blocks) { return blocks < 64 || (blocks >= 1024 && blocks <= 1 << 14); }

/// Whether the current device runs code in which kernels wait for the one before. Code for compute capability
/// 8 that the driver translates for a newer GPU does not wait.
inline bool starts_early() {
  int device = 0, major = 0, minor = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return false;
  thread_local int asked = -1;
  thread_local bool early = false;
  if (device == asked) return early;
  asked = device, early = false;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess)
    for (const int compiled : {__CUDA_ARCH_LIST__})
      early = early || (compiled >= 900 && compiled == major * 100 + minor * 10);
  return early;
}

inline void check_launch(cudaError_t e) {
  if (e != cudaSuccess) fail<DeviceError>(std::string("cuda: launch failed: ") + cudaGetErrorString(e));
}

/// Allows a kernel more dynamic shared memory than 48 KiB, which needs the kernel's consent.
template <class Kernel>
void allow_shared(Kernel* kernel, std::size_t shared) {
  if (shared > 48 * 1024)
    check_launch(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)));
}

template <class... P, class... A>
void launch(void (*kernel)(P...), dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream,
            A&&... args) {
  if (logged(reinterpret_cast<const void*>(kernel), grid, block, shared)) return;
  allow_shared(kernel, shared);
  kernel<<<grid, block, shared, stream>>>(P(std::forward<A>(args))...);
  check_launch(cudaGetLastError());
}

/// Does what launch_early(...) does, for a caller that knows better than early_pays whether it pays.
template <class... P, class... A>
void launch_early_if(bool pays, void (*kernel)(EarlyStart, P...), dim3 grid, dim3 block, std::size_t shared,
                     cudaStream_t stream, A&&... args) {
  if (logged(reinterpret_cast<const void*>(kernel), grid, block, shared)) return;
  allow_shared(kernel, shared);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid, config.blockDim = block, config.dynamicSmemBytes = shared, config.stream = stream;
  config.attrs = &early, config.numAttrs = (pays || early_pays(grid.x)) && starts_early() ? 1 : 0;
  check_launch(cudaLaunchKernelEx(&config, kernel, EarlyStart{}, P(std::forward<A>(args))...));
}
template <class... P, class... A>
void launch_early(void (*kernel)(EarlyStart, P...), dim3 grid, dim3 block, std::size_t shared,
                  cudaStream_t stream, A&&... args) {
  launch_early_if(false, kernel, grid, block, shared, stream, std::forward<A>(args)...);
}
#endif

}  // namespace kolmo::cuda
