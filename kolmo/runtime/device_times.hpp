#pragma once
#include <memory>

#include "kolmo/runtime/monitor.hpp"

namespace kolmo::monitor::detail {

/// A launch that is looked at closely, from its beginning until its time is known.
struct Sample {
  Kernel* kernel;
  Stream* stream;  ///< while it is launched
  Work work;
  double begin = 0;                    ///< seconds of the steady clock
  double host_seconds = 0;             ///< of the launch
  double spent = 0;                    ///< on looking
  std::string track;                   ///< on the device, if the launch is traced
  std::unique_ptr<Event> start, stop;  ///< on devices with a time of their own
  bool late = false;                   ///< the device may have waited for the host between start and stop
};

/// Adds what a sample tells to its kernel.
void account(const Sample& sample, double seconds);

/// Times launches by pairs of events. A pair is exact if the stream had not come to it when it was complete;
/// otherwise the device may have idled in between, and the pair is used only if the host took less than 5 %
/// of the time between the events. At most 64 pairs wait at once. Times are read without waiting, a few
/// whenever a sample begins, the rest at a scrape. Nothing throws: a sample that fails is dropped.
void start(Sample& sample) noexcept;
void stop(std::unique_ptr<Sample> sample) noexcept;
void harvest(std::size_t most) noexcept;

enum class Drop : std::uint8_t { idle, ring_full, over_budget, error };
/// Counts in kolmo_monitor_samples_dropped_total.
void drop(Drop reason) noexcept;

}  // namespace kolmo::monitor::detail
