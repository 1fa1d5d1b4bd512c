#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

namespace kolmo::tune {

/// The drift alarm of one configuration: an exponentially weighted moving average (weight 0.1) of times
/// observed in production, divided by the time measured in tuning. A ratio above 1.10 after at least 30
/// samples marks it as stale permanently.
class Drift {
 public:
  static constexpr double weight = 0.1, alarm = 1.10;
  static constexpr std::uint64_t fewest_samples = 30;

  explicit Drift(double tuned_seconds) : tuned_(tuned_seconds) {}

  /// Returns true if this sample raised the alarm. Samples that are not positive and finite are ignored.
  bool add(double seconds);
  bool stale() const { return stale_.load(std::memory_order_relaxed); }
  double ratio() const;  ///< the average over the tuned time; 1 before the first sample
  double variance() const;
  std::uint64_t samples() const;

 private:
  const double tuned_;
  mutable std::mutex mutex_;  // timed samples alone take it: rare, and never during a call
  double mean_ = 0, variance_ = 0;
  std::uint64_t samples_ = 0;
  std::atomic<bool> stale_ = false;
};

}  // namespace kolmo::tune
