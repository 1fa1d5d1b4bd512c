#pragma once
#include <chrono>
#include <cstdint>

#include "kolmo/runtime/device.hpp"

namespace kolmo {

/// Limits of how much work is queued on a device at once. A batch should take about `seconds`, so that
/// progress is shown and little work is lost when the process is killed. Within the lower and the upper
/// bounds the estimator can take its fastest variant. Outside of them it takes a slower one, whose rate would
/// be measured, and later batches would stay too small. Where few links are alike, batches are smaller than
/// the lower bounds. Results do not depend on any of these.
struct BatchLimits {
  double seconds = 0.5;
  std::int64_t least_estimates = 1;  ///< estimates of one target
  double least_work = 0;             ///< estimates x rows
  double first_work = 1e6;           ///< of the first part of a share whose rate is not known: about a second
  std::int64_t most_rows = INT64_MAX;
  double most_bytes = 512e6;

  /// The limits for a series of `rows` rows on a device.
  static BatchLimits of(DeviceKind kind, std::int64_t rows);
};

/// The size of a batch: some or all links of one target, or all links of several targets.
struct BatchSize {
  std::int64_t targets, links;  ///< links of each target
};

/// Chooses batch sizes from the time that earlier batches took.
class Batching {
 public:
  /// A link takes `estimates` estimates of `rows` rows each and `bytes` bytes of data.
  Batching(const BatchLimits& limits, std::int64_t estimates, std::int64_t rows, double bytes);
  /// From now on a link takes so many.
  void link(std::int64_t estimates, double bytes);
  /// From now on a batch has at most so much work, unless that is less than the lower bounds: estimates x rows.
  void limit(double work) { most_work_ = work; }

  /// Returns the next batch, if the first target has `links` links left and the next `alike` targets (itself
  /// included) as many each. A target that does not fit is split into nearly equal parts.
  BatchSize next(std::int64_t links, std::int64_t alike) const;
  /// Returns how many of `count` equal items fit into a batch, at least one. The `work` of an item is
  /// estimates x rows.
  std::int64_t fit(double work, std::int64_t count) const;

  void took(double work, double seconds);
  template <class F>
  auto measure(double work, F&& f) {
    const auto begin = std::chrono::steady_clock::now();
    auto result = f();
    took(work, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    return result;
  }

 private:
  BatchLimits limits_;
  std::int64_t rows_, least_links_, most_links_;
  double link_work_, most_work_ = 1e300, rate_ = 1e6, seconds_;
};

}  // namespace kolmo
