#pragma once
#include <cstddef>

namespace kolmo::memory {

/// Maps zeroed pages directly from the system, in huge pages if available. Every core writes to a part of
/// them, so that locking them later does not fault them in one by one. Throws OutOfMemory.
void* map_touched(std::size_t bytes);
void unmap(void* data, std::size_t bytes) noexcept;

}  // namespace kolmo::memory
