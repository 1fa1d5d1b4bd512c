#pragma once
#include <string>

#include "kolmo/runtime/device.hpp"

namespace kolmo::tune {

/// The state of a GPU's clock; zero and empty where it is not known.
struct Clocks {
  double hertz = 0, temperature_celsius = 0;
  std::string throttled;  ///< why it was slowed down: "hw_slowdown", "thermal", "power_brake"
};

/// As NVML says; nothing is known of other devices, nor where CUDA_VISIBLE_DEVICES does not tell which GPU is
/// meant.
Clocks gpu_clocks(Device device);
/// W, 0 where it is not known.
double gpu_power_limit(Device device);

}  // namespace kolmo::tune
