#pragma once
#include "kolmo/runtime/device.hpp"

namespace kolmo {

/// The time in seconds that two events add to that of the kernel between them if the stream is never empty:
/// before each event the device drains and writes its clock. Measured with short kernels: the time with
/// events around each kernel, minus the time of an unbroken sequence. Takes about 2 ms.
double measure_event_cost(Device device);

}  // namespace kolmo
