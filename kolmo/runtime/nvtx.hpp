#pragma once

namespace kolmo {

/// Named ranges for NVIDIA's profilers, implemented in cuda/nvtx.cpp; without effect in a build without the
/// NVTX headers.
bool nvtx_available();
void nvtx_push(const char* name);
void nvtx_pop();

}  // namespace kolmo
