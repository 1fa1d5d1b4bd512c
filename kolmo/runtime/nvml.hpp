#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kolmo {

/// NVIDIA's management library (NVML), opened at run time: neither its header nor linking is needed, and
/// without a driver there is no library. Only cheap calls are made that do not hold a driver lock for long:
/// no process lists, no PCIe throughput. Not thread-safe.
class Nvml {
 public:
  /// Returns null if the library is missing or fails to start; `open` may be called again.
  static Nvml* open();

  struct Gpu {
    void* handle;
    std::string index, uuid, name, capability;
    std::optional<double> power_limit = {};  ///< W, as enforced when the library was opened
  };
  const std::vector<Gpu>& gpus() const { return gpus_; }
  const std::string& driver() const { return driver_; }  ///< "580.95.05"

  /// The current state of a GPU; values it does not report are empty. Ratios are in 0 to 1, other units as
  /// noted.
  struct Reading {
    std::optional<double> busy, memory_used, memory_total;                      // bytes
    std::optional<double> power, energy, temperature, sm_clock;                 // W, J, degrees Celsius, Hz
    std::optional<std::uint64_t> throttle;                                      // bits, see throttle_reasons
    std::optional<double> sm_active, sm_occupancy, tensor_active, dram_active;  // Hopper and later
  };
  /// Reads a GPU; if `slow`, also power, temperature and clocks. The last four values are averages since the
  /// previous reading.
  Reading read(const Gpu& gpu, bool slow);
  /// Reads the clock, the temperature and throttling alone. Thread-safe.
  Reading read_clocks(const Gpu& gpu) const;
  /// XID errors since the last call, each with the GPU's index in gpus(). Does not wait.
  std::vector<std::pair<std::size_t, std::uint64_t>> xid_errors();

 private:
  struct Calls;
  Nvml() = default;
  bool start();
  void read_activity(std::size_t gpu, Reading& reading);

  Calls* calls_ = nullptr;
  std::vector<Gpu> gpus_;
  std::string driver_;
  void* events_ = nullptr;
  // The last two samples of activity, the newest first; empty if not supported.
  std::vector<void*> samples_[2];
};

/// Bits of Reading::throttle, with the reason shown in metrics.
struct ThrottleReason {
  const char* name;
  std::uint64_t bits;
};
inline constexpr ThrottleReason throttle_reasons[] = {
    {"power_cap", 0x4}, {"hw_slowdown", 0x8}, {"sync_boost", 0x10}, {"thermal", 0x60}, {"power_brake", 0x80}};

/// The version of NVIDIA's kernel driver, "580.95.05"; empty if there is none.
std::string nvidia_driver();

}  // namespace kolmo
