#include "kolmo/runtime/nvtx.hpp"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

namespace kolmo {
bool nvtx_available() { return true; }
void nvtx_push(const char* name) { nvtxRangePushA(name); }
void nvtx_pop() { nvtxRangePop(); }
}  // namespace kolmo

#else

namespace kolmo {
bool nvtx_available() { return false; }
void nvtx_push(const char*) {}
void nvtx_pop() {}
}  // namespace kolmo

#endif
