#pragma once
#include <string>
#include <vector>

#include "kolmo/predict/analysis/forecast.hpp"

namespace kolmo::predict {

/// A decay to rate 0 that begins now, beside the rate as it is.
struct DecayChoice {
  std::int64_t length = 0;  ///< steps
  ForecastResult decayed;   ///< up to the end of the decay
  double held = 0;          ///< median of the loss at that step if the rate is held
  double loss() const { return decayed.forecast.median.back(); }
};

/// The forecasts of a training: under the plan that was asked for, with the rate held, and with decays that begin now and take 5, 10,
/// 20 and 35 % of the steps seen.
struct TrainingOutlook {
  ForecastResult planned, held;
  std::vector<DecayChoice> decays;  ///< by length
  /// The decay whose loss is the lowest; null if none is below what holding the rate gives.
  const DecayChoice* best() const;
};

TrainingOutlook outlook(const TrainingLog& log, const ForecastRequest& request, const std::string& file);

/// A training as one self-contained HTML page: its curve with a fan for each plan, when to decay, which forecasters compete and their
/// skill, and the command. The page loads nothing. A pure function: equal input gives equal bytes.
std::string training_report(const TrainingLog& log, const TrainingOutlook& outlook,
                            const std::string& command);

}  // namespace kolmo::predict
