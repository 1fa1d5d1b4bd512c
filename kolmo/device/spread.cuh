#pragma once
// Grids of at most one block for each multiprocessor.
#include <algorithm>

#include "kolmo/device/multiprocessors.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo::cuda {
namespace {

/// The shared memory with which a multiprocessor has no place for a second block, if a block may have as
/// much. 0 if the grid has more blocks than there are multiprocessors.
inline std::size_t shared_to_spread([[maybe_unused]] unsigned blocks, [[maybe_unused]] int device) {
#ifndef SIMT
  int all = 0, most = 0;
  const bool known =
      cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device) == cudaSuccess &&
      cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) == cudaSuccess;
  if (!known) (void)cudaGetLastError();  // clears the error, which the launch would report
  if (blocks <= unsigned(multiprocessors(device)) && all / 2 < most) return std::size_t(all / 2);
#endif
  return 0;
}

/// Launches a kernel whose blocks slow each other down when they share a multiprocessor. It starts early,
/// before the grid ahead of it has ended, if each block has a multiprocessor to itself: its waiting blocks
/// then take the places of blocks that end, and do not gather on one multiprocessor.
template <class... P, class... A>
void launch_spread(void (*kernel)(EarlyStart, P...), unsigned blocks, unsigned block, std::size_t shared,
                   const Stream& s, A&&... args) {
  const std::size_t alone = shared_to_spread(blocks, s.device().index);
  launch_early_if(alone > 0, kernel, blocks, block, std::max(shared, alone), native(s),
                  std::forward<A>(args)...);
}

}  // namespace
}  // namespace kolmo::cuda
