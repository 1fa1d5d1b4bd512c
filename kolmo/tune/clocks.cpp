#include "kolmo/tune/clocks.hpp"

#include <cstdlib>

#include "kolmo/runtime/nvml.hpp"

namespace kolmo::tune {
namespace {

/// The entry of CUDA_VISIBLE_DEVICES for a device; "1" for cuda:1 if the variable is not set.
std::string visible(int index) {
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!list) return std::to_string(index);
  std::string_view rest = list;
  for (; index > 0; --index) {
    const auto comma = rest.find(',');
    if (comma == rest.npos) return "";
    rest.remove_prefix(comma + 1);
  }
  return std::string(rest.substr(0, rest.find(',')));
}

const Nvml::Gpu* find(Device device) {
  if (device.kind != DeviceKind::cuda) return nullptr;
  Nvml* nvml = Nvml::open();
  const std::string word = nvml ? visible(device.index) : "";
  if (word.empty()) return nullptr;
  for (const Nvml::Gpu& gpu : nvml->gpus())
    if (gpu.index == word || (word.starts_with("GPU-") && gpu.uuid.starts_with(word)))
      return gpu.name == device_info(device).name ? &gpu : nullptr;
  return nullptr;
}

}  // namespace

Clocks gpu_clocks(Device device) {
  Clocks clocks;
  const Nvml::Gpu* gpu = find(device);
  if (!gpu) return clocks;
  const Nvml::Reading r = Nvml::open()->read_clocks(*gpu);
  clocks.hertz = r.sm_clock.value_or(0), clocks.temperature_celsius = r.temperature.value_or(0);
  for (const ThrottleReason& reason : throttle_reasons) {
    const std::string name = reason.name;
    if (name == "power_cap" || name == "sync_boost") continue;  // normal operation, not throttling
    if (r.throttle.value_or(0) & reason.bits)
      clocks.throttled += (clocks.throttled.empty() ? "" : ", ") + name;
  }
  return clocks;
}

double gpu_power_limit(Device device) {
  const Nvml::Gpu* gpu = find(device);
  return gpu ? gpu->power_limit.value_or(0) : 0;
}

}  // namespace kolmo::tune
