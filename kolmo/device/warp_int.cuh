#pragma once
// Reductions of int over the 32 lanes of a warp, by one instruction each.
#include "kolmo/device/warp.cuh"

namespace kolmo::cuda {
namespace {

__device__ inline int warp_sum(int v) { return __reduce_add_sync(~0u, v); }
__device__ inline int warp_min(int v) { return __reduce_min_sync(~0u, v); }
__device__ inline int warp_max(int v) { return __reduce_max_sync(~0u, v); }

}  // namespace
}  // namespace kolmo::cuda
