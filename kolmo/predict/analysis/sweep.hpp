#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kolmo/predict/analysis/forecast.hpp"

namespace kolmo::predict {

/// A run of a sweep, and the mean loss of its block at the step at which all are compared.
struct SweepRun {
  std::string name;  ///< the file or folder of its log
  std::int64_t last_step = 0;
  double loss = 0;                               ///< of the last block seen
  double median = 0, low = 0, high = 0;          ///< of the loss at the common step; 5 % and 95 % quantiles
  double rank = 0, rank_low = 0, rank_high = 0;  ///< median, 5 % and 95 % quantile; rank 1 is the lowest loss
  double best = 0;                               ///< probability of rank 1
  double below_leader =
      1;  ///< probability that it ends below the run whose median is the lowest; 1 of that run itself
  std::string driver;
  std::string why_not;  ///< why it cannot be forecast; if it can, ""
};

struct Sweep {
  static constexpr double stop_below = .05;  ///< a run whose below_leader is less may be stopped

  std::int64_t step = 0;       ///< at which the runs are compared
  std::vector<SweepRun> runs;  ///< by median; those that cannot be forecast are last, by name
  std::vector<std::string> notes;
  bool may_stop(const SweepRun& run) const { return run.why_not.empty() && run.below_leader < stop_below; }
};

/// Forecasts every run whose log is in a folder to the same step: `horizon` steps after the end of the longest log (100 steps if it is
/// not given). The plan of the request is that of each run. Ranks and probabilities come from 4,000 joint draws in which the runs are
/// independent, from a fixed seed. In truth, shared unknowns such as the gain of a decay move all runs together, so the ranks are more
/// certain than they say. Throws InvalidArgument if fewer than two runs can be forecast.
Sweep sweep(const std::string& folder, const ForecastRequest& request);

nlohmann::ordered_json sweep_json(const Sweep& sweep);

}  // namespace kolmo::predict
