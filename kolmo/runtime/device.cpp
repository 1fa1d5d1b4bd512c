#include "kolmo/runtime/device.hpp"

#include <map>
#include <mutex>

#include "kolmo/runtime/backend.hpp"

namespace kolmo {

Backend& backend(Device device) {
  static std::mutex mutex;
  static auto& all =
      *new std::map<std::pair<DeviceKind, int>, std::unique_ptr<Backend>>;  // outlives all streams
  const std::scoped_lock lock(mutex);
  auto& slot = all[{device.kind, device.index}];
  if (!slot)
    slot = device.kind == DeviceKind::cuda ? make_cuda_backend(device.index) : make_host_backend(device.kind);
  return *slot;
}

DeviceInfo device_info(Device device) { return backend(device).info(); }

bool available(Device device) {
  try {
    backend(device);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> all{device_info({DeviceKind::cpu, 0})};
  for (int i = 0; i < cuda_device_count(); ++i)
    if (available({DeviceKind::cuda, i})) all.push_back(device_info({DeviceKind::cuda, i}));
  if (available({DeviceKind::simt, 0})) all.push_back(device_info({DeviceKind::simt, 0}));
  return all;
}

Device parse_device(const std::string& name) {
  if (name == "cpu") return {DeviceKind::cpu, 0};
  if (name == "simt") return {DeviceKind::simt, 0};
  if (name == "cuda") return {DeviceKind::cuda, 0};
  if (name == "auto") return available({DeviceKind::cuda, 0}) ? Device{DeviceKind::cuda, 0} : Device{};
  if (name.size() > 5 && name.size() < 9 && name.starts_with("cuda:") &&
      name.find_first_not_of("0123456789", 5) == std::string::npos)
    return {DeviceKind::cuda, std::stoi(name.substr(5))};
  fail<InvalidArgument>("device: '" + name + "' is not one of auto, cpu, cuda, cuda:N, simt");
}

}  // namespace kolmo
