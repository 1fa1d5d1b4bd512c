#pragma once
#include <cstddef>

#include "kolmo/base/error.hpp"

namespace kolmo::bench {

/// Does the pipeline's work without a library, after NVIDIA's samples: a stream each for uploads, kernels and
/// downloads, `slots` sets of page-locked and device buffers in turn, and one host thread that waits for the
/// oldest set, checks its result and restarts it. Each item of `bytes` is added to itself `kernels` times.
/// With one slot nothing overlaps. Returns seconds per item. Throws DeviceError; Unsupported without CUDA.
double pipeline_by_hand(int device, std::size_t bytes, int kernels, int slots, int items);

}  // namespace kolmo::bench
