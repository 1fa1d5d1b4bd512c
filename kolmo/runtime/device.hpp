#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kolmo/base/tensor.hpp"

namespace kolmo {

/// Properties and peak rates of a device; the rates are the roofs of the roofline. Zero: not known.
struct DeviceInfo {
  Device device;
  std::string name;
  std::string driver;           ///< driver and runtime versions, empty on the CPU
  std::string capability;       ///< "9.0" on a GPU, the widest instruction set in use on the CPU
  int processors = 0;           ///< multiprocessors, or cores this process may use
  std::uint64_t memory = 0;     ///< bytes
  std::uint64_t cache = 0;      ///< bytes of the last-level cache
  double bytes_per_second = 0;  ///< peak memory bandwidth
  double flops_f64 = 0, flops_f32 = 0;
  double matrix_flops_f64 = 0;  ///< matrix products in f64, which tensor cores may speed up
  double matrix_flops_16 = 0;   ///< products of 16-bit factors, with sums in f32
};

/// Every device this build and machine can use, the CPU first.
std::vector<DeviceInfo> devices();
/// Throws Unsupported when the device cannot be used, saying why.
DeviceInfo device_info(Device device);
bool available(Device device);
namespace detail {
bool deferred(Device device);  // see Backend::deferred
}
/// Whether the device works in host memory, so that nothing has to be copied to it.
inline bool in_host_memory(Device d) {
  return d.kind != DeviceKind::cuda && (d.index == 0 || !detail::deferred(d));
}
/// While an object of this class lives, a CUDA device is current in its thread, for all code there that uses
/// CUDA; afterwards the former device is current again. Queueing work makes the work's device current, and
/// leaves it so. Devices of other kinds have no effect.
class CurrentDevice {
 public:
  CurrentDevice();  ///< keeps the device that is already current
  explicit CurrentDevice(Device device);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = -1;
};

/// "cpu", "simt", "cuda", "cuda:1" or "auto" (cuda:0 if usable, else cpu). Throws InvalidArgument.
Device parse_device(const std::string& name);
/// Several devices, separated by commas: what parse_device() accepts, "cuda:all" for every usable GPU, and a number for another
/// device of the kind before it, as in "cuda:0,2". Throws InvalidArgument, also for a device that is named twice and if there is
/// no GPU for "cuda:all".
std::vector<Device> parse_devices(const std::string& names);

}  // namespace kolmo
