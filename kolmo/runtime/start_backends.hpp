#pragma once
#include <span>

#include "kolmo/runtime/device.hpp"

namespace kolmo {

/// Makes the backends of several devices side by side, since the start of a GPU takes tenths of a second. For a device that cannot
/// be used, backend() then says why.
void start_backends(std::span<const Device> devices);

}  // namespace kolmo
