#pragma once
#include <string>

#include "kolmo/runtime/device.hpp"

namespace kolmo::tune {

/// The state of a GPU's clock; zero and empty if not known.
struct Clocks {
  double hertz = 0, temperature_celsius = 0;
  std::string throttled;  ///< why it was slowed down: "hw_slowdown", "thermal", "power_brake"
};

/// Returns the state as NVML reports it. It is unknown for other devices, and if CUDA_VISIBLE_DEVICES does
/// not identify the GPU.
Clocks gpu_clocks(Device device);
/// The limit in watts; 0 if not known.
double gpu_power_limit(Device device);

}  // namespace kolmo::tune
