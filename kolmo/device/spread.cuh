#pragma once
// Grids of at most one block for each multiprocessor.
#include <algorithm>

#include "kolmo/device/multiprocessors.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo::cuda {
namespace {

/// Shared memory of which a multiprocessor has no place for two blocks, if a block may have as much; 0 for a grid of more
/// blocks than multiprocessors.
inline std::size_t shared_to_spread([[maybe_unused]] unsigned blocks, [[maybe_unused]] int device) {
#ifndef SIMT
  int all = 0, most = 0;
  const bool known =
      cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device) == cudaSuccess &&
      cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) == cudaSuccess;
  if (!known) (void)cudaGetLastError();  // the launch would report it
  if (blocks <= unsigned(multiprocessors(device)) && all / 2 < most) return std::size_t(all / 2);
#endif
  return 0;
}

/// launch_early(...) of a kernel whose blocks share multiprocessors badly. It starts early if each has one to itself: blocks
/// that wait for the grid before then take the place of its blocks, not one beside another.
template <class... P, class... A>
void launch_spread(void (*kernel)(EarlyStart, P...), unsigned blocks, unsigned block, std::size_t shared,
                   const Stream& s, A&&... args) {
  const std::size_t alone = shared_to_spread(blocks, s.device().index);
  launch_early_if(alone > 0, kernel, blocks, block, std::max(shared, alone), native(s),
                  std::forward<A>(args)...);
}

}  // namespace
}  // namespace kolmo::cuda
