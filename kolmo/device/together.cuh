#pragma once
// Kernels all of whose blocks run at once, so that they can wait for each other. The emulated GPU has a grid of one
// block for them. Anonymous namespace: see device/grid.cuh.
#include "kolmo/runtime/cuda/launch.cuh"
#ifndef SIMT
#include <cooperative_groups.h>
#endif

namespace kolmo::cuda {
namespace {

#ifdef SIMT
/// How many blocks can run at once on a device, which is the current one; 0: they cannot wait for each other.
template <class Kernel>
int blocks_together(int, Kernel*, int, std::size_t) {
  return 1;
}
/// Starts a kernel all of whose blocks run at once.
template <class... P, class... A>
void launch_together(void (*kernel)(P...), unsigned blocks, int block, std::size_t shared,
                     cudaStream_t stream, A&&... args) {
  if (blocks > 1) fail<Unsupported>("simt: runs one block at once");
  cuda::launch(kernel, blocks, block, shared, stream, std::forward<A>(args)...);
}
/// Waits for all threads of a grid that launch_together started, and shows them what the others wrote before.
__device__ inline void meet_grid() { __syncthreads(); }
#else
template <class Kernel>
int blocks_together(int device, Kernel* kernel, int block, std::size_t shared) {
  int may = 0, processors = 0, each = 0;
  const bool known =
      cudaDeviceGetAttribute(&may, cudaDevAttrCooperativeLaunch, device) == cudaSuccess &&
      cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) == cudaSuccess &&
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)) == cudaSuccess &&
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, block, shared) == cudaSuccess;
  if (!known) (void)cudaGetLastError();  // the next launch would report it
  return known && may ? each * processors : 0;
}
template <class... P, class... A>
void launch_together(void (*kernel)(P...), unsigned blocks, int block, std::size_t shared,
                     cudaStream_t stream, A&&... args) {
  if (logged(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(unsigned(block)), shared)) return;
  allow_shared(kernel, shared);
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks), config.blockDim = dim3(unsigned(block));
  config.dynamicSmemBytes = shared, config.stream = stream;
  config.attrs = &together, config.numAttrs = 1;
  check_launch(cudaLaunchKernelEx(&config, kernel, P(std::forward<A>(args))...));
}
__device__ inline void meet_grid() { cooperative_groups::this_grid().sync(); }
#endif

}  // namespace
}  // namespace kolmo::cuda
