#pragma once
#include <map>
#include <string>

#include "kolmo/runtime/nvml.hpp"

namespace kolmo::monitor {

/// Sets the metrics of this machine's devices: `kolmo_gpu_*` of every NVIDIA GPU that the driver exposes to
/// this process, and `kolmo_cpu_*` of the processor from the counters of the operating system. Values that a
/// machine does not provide are omitted. Not thread-safe.
class DeviceMeter {
 public:
  /// `now`: time in seconds, for rates since the previous call.
  void read(double now);

 private:
  void read_gpus(bool slow);
  void read_processor(double now, bool slow);

  Nvml* nvml_ = Nvml::open();
  double last_ = 0, process_seconds_ = 0, busy_ticks_ = 0, all_ticks_ = 0, energy_ = 0, throttled_ = 0;
  std::uint64_t readings_ = 0;
};

}  // namespace kolmo::monitor
