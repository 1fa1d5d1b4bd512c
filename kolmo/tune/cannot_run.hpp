#pragma once
#include <string>

#include "kolmo/base/function_ref.hpp"

namespace kolmo::tune {

/// Runs the work of one configuration. Returns the reason if it cannot run, else an empty text. It cannot run
/// if the work throws InvalidArgument (it refuses the arguments or their data), Unsupported (the device, the
/// build or the mode of measuring lacks something), OutOfMemory or std::bad_alloc; tuning then records the
/// reason and goes on without it. Any other exception says nothing about the configuration, is passed on and
/// ends the tuning: DeviceError, Busy, another Error, and whatever a function to be tuned throws.
std::string why_it_cannot_run(FunctionRef<void()> work);

}  // namespace kolmo::tune
