#pragma once
#include <cstddef>

namespace kolmo::memory {

/// Zeroed pages straight from the system, in huge pages where it gives them, written to once by every core so
/// that locking them later does not fault them in one by one. Throws OutOfMemory.
void* map_touched(std::size_t bytes);
void unmap(void* data, std::size_t bytes) noexcept;

}  // namespace kolmo::memory
