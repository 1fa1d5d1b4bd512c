#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kolmo {

/// NVIDIA's management library (NVML), opened at run time: no header or link is needed, and without a driver
/// there is no library. Only cheap calls are made that do not hold a driver lock for long: no process lists,
/// no PCIe throughput. Not thread-safe.
class Nvml {
 public:
  /// Null if the library is missing or fails to start; `open` may be called again.
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
  /// `slow`: also power, temperature, clocks. The last four values are averages since the previous reading.
  Reading read(const Gpu& gpu, bool slow);
  /// A reading of only clock, temperature and throttling. Thread-safe.
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
  std::vector<void*> samples_[2];  // of activity, the last and the one before; empty if not supported
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
