#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kolmo/predict/decide/history.hpp"
#include "kolmo/predict/decide/store_standing.hpp"
#include "kolmo/predict/forecast/forecaster.hpp"
#include "kolmo/predict/forecast/plan.hpp"

namespace kolmo::predict {

/// When a loss reaches a target: the first step at which the median, and the 5 % and 95 % quantiles of the loss without its noise, are
/// at or below it. None: not within the horizon.
struct TimeTo {
  double target = 0;
  std::optional<std::int64_t> median, low, high;
};
TimeTo time_to(const Forecast& forecast, double target);

/// The score of a forecaster at a horizon, on the log's own past.
struct Standing {
  std::string forecaster;
  std::size_t horizon = 0;  ///< blocks
  Score score;
};

/// All forecasters compete on the log's own past, and the best drives. A forecaster that does not follow the planned rates
/// drives only while the plan goes on with rates like the last one.
class Arena {
 public:
  /// `longest`: the longest horizon whose errors are kept, in blocks. `stride`: see History.
  /// `standing`: what past runs say of the forecasters. A forecaster that learned from runs drives only if it is admitted there.
  Arena(Forecasters forecasters, std::size_t longest, std::size_t stride,
        const StoreStanding* standing = nullptr);

  /// Takes what was added to the log. Throws InvalidArgument for losses that are not positive.
  void update(const TrainingLog& log);
  /// The forecast for the blocks to come. Where the driver is a mean of parts, its intervals are wider by an independent deviation:
  /// their distance times sqrt(1 - H / h), at a horizon h beyond H, the longest whose errors are known.
  /// Throws InvalidArgument for a log with fewer than 4 blocks, and for one whose loss is no number any more. update() must have seen
  /// the log.
  Forecast forecast(const TrainingLog& log, const Plan& plan, std::size_t blocks) const;
  /// The forecast of a certain forecaster. Throws InvalidArgument, naming those there are, if it is unknown or not able to.
  Forecast forecast_by(const std::string& forecaster, const TrainingLog& log, const Plan& plan,
                       std::size_t blocks) const;

  /// The score of a forecaster for choosing the driver: its CRPS relative to that of persistence, the mean over horizons up to
  /// `blocks`, where its usual score counts as 3 origins, and that on past runs as 10. Of a training that is unlike them, what they say of
  /// forecasters does not count: then those that follow rates and have not learned begin with .85, and all others with 1.
  double standing(std::size_t forecaster, std::size_t blocks, bool unlike = false) const;
  std::vector<Standing> standings() const;
  const History& history() const { return history_; }

 private:
  struct Choice {
    std::size_t forecaster = 0;
    bool unlike = false;  // the training is unlike past runs
  };
  Choice driver(const Seen& seen, const RateBlocks& planned) const;
  Forecast made(std::size_t forecaster, const TrainingLog& log, const Plan& plan, std::size_t blocks) const;

  History history_;
  GainPrior prior_;
  std::vector<double> usual_;  // by forecaster
  double usual_origins_ = 3;
  bool learned_may_drive_ = false;
  std::size_t checked_ = 0;
};

}  // namespace kolmo::predict
