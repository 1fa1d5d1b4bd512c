#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kolmo/base/tensor.hpp"

namespace kolmo {

/// What a device is and what it could do at best; the roofs of the roofline. Zero: not known.
struct DeviceInfo {
  Device device;
  std::string name;
  std::string driver;           ///< driver and runtime versions, empty on the CPU
  std::string capability;       ///< "9.0" on a GPU, the widest vector set in use on the CPU
  int processors = 0;           ///< multiprocessors, or cores this process may use
  std::uint64_t memory = 0;     ///< bytes
  std::uint64_t cache = 0;      ///< bytes of the last-level cache
  double bytes_per_second = 0;  ///< peak memory bandwidth
  double flops_f64 = 0, flops_f32 = 0;
  double matrix_flops_f64 = 0;  ///< of matrix products, which tensor cores may speed up
  double matrix_flops_16 = 0;   ///< of those of 16-bit factors, with sums in f32
};

/// Every device this build and machine can use, the CPU first.
std::vector<DeviceInfo> devices();
/// Throws Unsupported when the device cannot be used, saying why.
DeviceInfo device_info(Device device);
bool available(Device device);
/// Whether operators run their CPU code there.
constexpr bool runs_cpu_code(DeviceKind k) { return k == DeviceKind::cpu || k == DeviceKind::sim; }
/// Whether the device works in host memory, so that nothing has to be copied to it.
constexpr bool in_host_memory(Device d) { return d.kind == DeviceKind::cpu || d.kind == DeviceKind::simt; }
/// "cpu", "simt", "cuda", "cuda:1" or "auto" (cuda:0 if usable, else cpu). Throws InvalidArgument.
Device parse_device(const std::string& name);

}  // namespace kolmo
