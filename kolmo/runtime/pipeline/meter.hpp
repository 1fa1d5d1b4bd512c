#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/runtime/metrics.hpp"

namespace kolmo {

/// Seconds of a part in each stage: in the host's `fill` and `read`, and in the device's stages, which run
/// concurrently.
struct StageSeconds {
  double fill = 0, upload = 0, compute = 0, download = 0, read = 0;

  StageSeconds& operator+=(const StageSeconds& o);
  StageSeconds operator/(double n) const {
    return {fill / n, upload / n, compute / n, download / n, read / n};
  }
};
/// Begin and end of a part's upload, compute and download, in seconds of the device's clock.
using StageTimes = std::array<double, 6>;
/// Shares of the time from the first begin to the last end in which at least one, two and three stages run.
std::array<double, 3> at_once(const std::vector<StageTimes>& parts);

enum class PipelineOutcome : std::uint8_t { done, failed, dropped };
inline constexpr std::string_view pipeline_outcome_names[] = {"done", "failed", "dropped"};

/// Statistics of a pipeline since its construction. An item's latency runs from the call of submit() until
/// its result is handed over, including all waiting. Quantiles are at most 6.25 % off. A part is an item, or
/// a piece of a split item.
struct PipelineReport {
  std::uint64_t submitted = 0, done = 0, failed = 0, dropped = 0, rejected = 0, parts = 0;
  double wall = 0;              ///< seconds from the first submit() to the last result
  double starved = 0;           ///< share of `wall` in which a slot was free and no item waited for it
  StageSeconds mean;            ///< per part, in normal operation
  StageSeconds alone;           ///< per part, each device stage run by itself; 0 until measured
  StageSeconds together;        ///< upload and download of a part while the other one runs, without computing
  double efficiency = 0;        ///< longest device stage of `alone` over wall / parts
  double efficiency_limit = 0;  ///< likewise, with the longest stage measured while copies share the link
  double overlap = 0;           ///< sum of the device seconds of all stages over `wall`
  std::array<double, 3> at_once{};  ///< shares of the first parts, by the device's clock: see kolmo::at_once
  std::string_view bound;           ///< what limits throughput: a stage, "slots", "arrivals" or "host"
  double p50 = 0, p95 = 0, p99 = 0;
  double objective = 0;         ///< seconds
  double within_objective = 0;  ///< share of the completed items
};

namespace detail {

/// Updates the counts for the report and the process's metrics. Calls must not overlap.
class PipelineMeter {
 public:
  PipelineMeter(const std::string& name, int slots, double objective);

  void submitted(double now);
  void rejected();
  void part() { ++totals_.parts; }
  void timed_part(const StageSeconds& seconds, const StageTimes& times);
  void result(PipelineOutcome outcome, double latency, double now);
  /// Records how many items are in flight and waiting. `starved`: a slot is free and no item is waiting.
  void levels(std::size_t inflight, std::size_t queued, bool starved, double now);
  void alone(const StageSeconds& each, const StageSeconds& copies_together) {
    totals_.alone = each, totals_.together = copies_together;
  }
  /// Whether to time the next part: all of the first ones are timed, then one in 16.
  bool times_next() const { return totals_.parts < all_timed || totals_.parts % 16 == 0; }
  PipelineReport report() const;

 private:
  static constexpr std::size_t all_timed = 64;
  double wall() const { return last_result_ - first_submit_; }
  double overlap() const;
  std::string_view bound(const PipelineReport& report) const;

  const int slots_;
  PipelineReport totals_;  // only its counts are used
  StageSeconds sum_;
  std::vector<StageTimes> first_;  // times of the first parts
  std::uint64_t timed_ = 0, within_ = 0;
  double first_submit_ = 0, last_result_ = 0, starved_since_ = -1, starved_ = 0;
  metrics::Histogram latency_;

  metrics::Histogram& shared_latency_;
  std::array<metrics::Histogram*, 5> shared_stages_;
  std::array<metrics::Counter*, 4> shared_results_;
  metrics::Gauge &shared_inflight_, &shared_queue_, &shared_overlap_;
};

}  // namespace detail
}  // namespace kolmo
