#include "kolmo/runtime/device.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "kolmo/runtime/backend.hpp"
#include "kolmo/runtime/memory/size_class.hpp"
#include "kolmo/runtime/start_backends.hpp"

namespace kolmo {

namespace {

struct Slot {
  std::mutex mutex;
  std::unique_ptr<Backend> backend;
};
struct Backends {
  std::mutex mutex;
  std::map<std::pair<DeviceKind, int>, Slot> all;

  Slot& of(Device device) {
    const std::scoped_lock lock(mutex);
    return all[{device.kind, device.index}];
  }
};
Backends& backends() {
  static auto& b = *new Backends;  // never destroyed: it must outlive all streams
  return b;
}

std::unique_ptr<Backend> make_backend(Device device) {
  if (device.kind == DeviceKind::cuda) return make_cuda_backend(device.index);
  if (device.index != 0) fail<Unsupported>(to_string(device) + ": there is no such device");
  if (device.kind == DeviceKind::cpu) return make_host_backend(device.kind);
  if (!make_simt_backend)
    fail<Unsupported>("simt: the emulated GPU is not part of this program (configure with -DKOLMO_SIMT=ON)");
  return make_simt_backend();
}

}  // namespace

void* Backend::allocate_host(std::size_t bytes) {
  const std::size_t rounded = memory::round_up(bytes, memory::alignment);
  void* p = rounded < bytes ? nullptr : std::aligned_alloc(memory::alignment, rounded);
  if (!p) fail<OutOfMemory>("host: no memory for " + std::to_string(bytes) + " bytes");
  return p;
}
void Backend::deallocate_host(void* data, std::size_t) noexcept { std::free(data); }

double Backend::now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Backend& backend(Device device) {
  Slot& slot = backends().of(device);
  const std::scoped_lock lock(slot.mutex);
  if (!slot.backend) slot.backend = make_backend(device);
  return *slot.backend;
}

void add_backend(Device device, std::unique_ptr<Backend> made) {
  Slot& slot = backends().of(device);
  const std::scoped_lock lock(slot.mutex);
  slot.backend = std::move(made);
}

void start_backends(std::span<const Device> devices) {
  std::vector<std::jthread> starts;
  if (devices.size() > 1)
    for (const Device d : devices) starts.emplace_back([d] { available(d); });
}

bool detail::deferred(Device device) { return backend(device).deferred(); }

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
  std::vector<Device> gpus;
  for (int i = 0; i < cuda_device_count(); ++i) gpus.push_back({DeviceKind::cuda, i});
  start_backends(gpus);
  for (const Device gpu : gpus)
    if (available(gpu)) all.push_back(device_info(gpu));
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

std::vector<Device> parse_devices(const std::string& names) {
  std::vector<Device> all;
  for (std::size_t begin = 0, end; begin <= names.size(); begin = end + 1) {
    end = std::min(names.find(',', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    std::vector<Device> more;
    if (name == "cuda:all") {
      for (const DeviceInfo& d : devices())
        if (d.device.kind == DeviceKind::cuda) more.push_back(d.device);
      require(!more.empty(), "device: 'cuda:all' needs a usable NVIDIA GPU, and there is none");
    } else {
      const bool number = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
      const bool follows = number && !all.empty() && all.back().kind == DeviceKind::cuda;
      more = {parse_device(follows ? "cuda:" + name : name)};
    }
    for (const Device d : more) {
      require(std::find(all.begin(), all.end(), d) == all.end(),
              "device: '" + names + "' names " + to_string(d) + " twice");
      all.push_back(d);
    }
  }
  return all;
}

}  // namespace kolmo
