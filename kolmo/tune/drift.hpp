#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

namespace kolmo::tune {

/// The drift alarm of one configuration: an exponentially weighted moving average (weight 0.1) of times seen
/// in production, over the time at which it was tuned. From 30 samples on, more than 1.10 marks it stale, for
/// good.
class Drift {
 public:
  static constexpr double weight = 0.1, alarm = 1.10;
  static constexpr std::uint64_t fewest_samples = 30;

  explicit Drift(double tuned_seconds) : tuned_(tuned_seconds) {}

  /// True when this sample raised the alarm. Samples that are not positive and finite are ignored.
  bool add(double seconds);
  bool stale() const { return stale_.load(std::memory_order_relaxed); }
  double ratio() const;  ///< the average over the tuned time; 1 before the first sample
  double variance() const;
  std::uint64_t samples() const;

 private:
  const double tuned_;
  mutable std::mutex mutex_;  // of samples that were timed: rare, never on the way of a call
  double mean_ = 0, variance_ = 0;
  std::uint64_t samples_ = 0;
  std::atomic<bool> stale_ = false;
};

}  // namespace kolmo::tune
