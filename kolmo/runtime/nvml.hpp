#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kolmo {

/// NVIDIA's management library, opened at run time where the driver brings it: no header and no link is
/// needed, and a machine without a driver has none. Only calls that are cheap and hold no driver lock for
/// long are made: no process lists, no PCIe throughput. One thread at a time.
class Nvml {
 public:
  /// Null where the library is missing or refuses to start; `open` may be called again.
  static Nvml* open();

  struct Gpu {
    void* handle;
    std::string index, uuid, name, capability;
    std::optional<double> power_limit = {};  ///< W, as enforced when the library was opened
  };
  const std::vector<Gpu>& gpus() const { return gpus_; }
  const std::string& driver() const { return driver_; }  ///< "580.95.05"

  /// What a GPU does now; what it does not tell is empty. Ratios in 0 to 1, other units as named.
  struct Reading {
    std::optional<double> busy, memory_used, memory_total;                      // bytes
    std::optional<double> power, energy, temperature, sm_clock;                 // W, J, degrees Celsius, Hz
    std::optional<std::uint64_t> throttle;                                      // bits, see throttle_reasons
    std::optional<double> sm_active, sm_occupancy, tensor_active, dram_active;  // Hopper and later
  };
  /// `slow`: also power, temperature, clocks. The activity of the last four is that since the reading before.
  Reading read(const Gpu& gpu, bool slow);
  /// Of a reading only clock, temperature and throttling; from any thread.
  Reading read_clocks(const Gpu& gpu) const;
  /// XID errors since the last call, with the GPU's place in gpus(). Does not wait.
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
  std::vector<void*> samples_[2];  // of activity, the last and the one before; empty where not supported
};

/// Bits of Reading::throttle, by the reason that metrics show.
struct ThrottleReason {
  const char* name;
  std::uint64_t bits;
};
inline constexpr ThrottleReason throttle_reasons[] = {
    {"power_cap", 0x4}, {"hw_slowdown", 0x8}, {"sync_boost", 0x10}, {"thermal", 0x60}, {"power_brake", 0x80}};

/// The version of NVIDIA's kernel driver, "580.95.05"; empty without one.
std::string nvidia_driver();

}  // namespace kolmo
