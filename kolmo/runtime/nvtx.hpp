#pragma once

namespace kolmo {

/// Named ranges for NVIDIA's profilers; cuda/nvtx.cpp, or nothing in a build without its headers.
bool nvtx_available();
void nvtx_push(const char* name);
void nvtx_pop();

}  // namespace kolmo
