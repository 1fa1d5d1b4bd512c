#pragma once
#include <memory>

#include "kolmo/runtime/monitor.hpp"

namespace kolmo::monitor::detail {

/// A launch that is timed, from its start until its time is known.
struct TimedLaunch {
  LaunchMetrics* kernel;
  Stream* stream;  ///< valid during the launch
  Work work;
  double begin = 0;                    ///< seconds of the steady clock
  double host_seconds = 0;             ///< duration of the launch on the host
  double spent = 0;                    ///< seconds spent on timing
  std::string track;                   ///< name of the device's track, if the launch is traced
  std::unique_ptr<Event> start, stop;  ///< only on devices that run asynchronously
  bool late = false;                   ///< the device may have waited for the host between start and stop
};

/// Adds the time of a launch to its operator's metrics.
void account(const TimedLaunch& sample, double seconds);

/// Time launches by pairs of events. A pair is exact if the device reached its first event only after the
/// second was queued. Otherwise the device may have idled in between, and the pair is used only if the host
/// took less than 5 % of the time between the events. At most 64 pairs wait at once. Times are read without
/// waiting: a few whenever a sample begins, the rest at a scrape. Nothing throws; a sample that fails is
/// dropped.
void start(TimedLaunch& sample) noexcept;
void stop(std::unique_ptr<TimedLaunch> sample) noexcept;
void harvest(std::size_t most) noexcept;

enum class Drop : std::uint8_t { idle, ring_full, over_budget, error };
/// Increments kolmo_monitor_samples_dropped_total.
void drop(Drop reason) noexcept;

}  // namespace kolmo::monitor::detail
