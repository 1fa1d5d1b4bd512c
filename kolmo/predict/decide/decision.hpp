#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "kolmo/predict/decide/outlook.hpp"

namespace kolmo::predict {

/// A decision on a training at a step.
struct Decision {
  static constexpr std::string_view go_on = "go on", start_decay = "start decay",
                                    return_average = "return the average", stop = "stop", alarm = "alarm";
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  std::int64_t step = 0;
  std::string_view action = go_on;
  std::int64_t length = 0;       ///< steps of the decay that starts
  double probability = unknown;  ///< of what the action counts on, by the forecast
  double margin = unknown;       ///< by how much the forecast is below what it is compared with, as a loss
  double forecast = unknown;     ///< the median of the loss at the end of a decay
  std::string driver;            ///< the forecaster
  std::string reason;

  /// The action and its reason in words.
  std::string text() const;
};

/// The state of a training and the forecasts that a decision rests on.
struct Situation {
  std::int64_t steps = 0;                 ///< so far
  std::optional<double> target;           ///< the loss to reach
  std::optional<std::int64_t> remaining;  ///< steps; none: as many as it takes
  std::int64_t stride = 50;               ///< how far ahead a better start of a decay is looked for
  Outlook going_on;  ///< the loss that is returned without a decay, of averaged weights if there are any
  /// The loss along a decay to 0 that starts in `start` steps and lasts `length`.
  std::function<Outlook(std::int64_t start, std::int64_t length)> decaying;
  double offset = 0;  ///< by so much earlier decays ended above their forecasts
};

/// The steps after which it is decided again.
std::int64_t decision_stride(std::int64_t steps, std::int64_t block);
/// The number of blocks at the end of a log whose mean training loss tells whether a target is reached: about as many as between two
/// decisions, 5 or more.
std::size_t blocks_that_count(std::int64_t stride, std::int64_t block);
/// The number of steps for which `going_on` must be known. Decays that end later are not looked at.
std::int64_t decision_horizon(std::int64_t steps, std::optional<std::int64_t> remaining, std::int64_t stride,
                              std::int64_t block);

/// Decides. To a target: of all decays that start now or later and are forecast to end below it by a margin, the one that ends first;
/// it is started if it starts now and the loss without it gets there later. Within a budget, and where no decay reaches the target in
/// time: a decay that lasts to the end, once it is forecast to be no worse than the one that begins a stride later, and better by
/// a margin than to go on. Averages of the weights are free, so a decay must beat them.
Decision choose(const Situation& situation);

}  // namespace kolmo::predict
