#pragma once
#include <map>
#include <memory>
#include <vector>

#include "kolmo/predict/forecast/calibrator.hpp"
#include "kolmo/predict/forecast/forecaster.hpp"

namespace kolmo::predict {

using Forecasters = std::vector<std::shared_ptr<const Forecaster>>;

/// The sums from which the score of forecasts at one horizon follows.
struct Score {
  double crps =
      0;  ///< sum over origins of the weighted CRPS of log loss: twice the mean pinball loss of the 19 quantiles
  double persistence = 0;  ///< the same of persistence, at the same origins
  double weight = 0, covered = 0;
  std::size_t count = 0;  ///< origins

  double mean_crps() const { return crps / weight; }
  /// The CRPS in units of that of persistence.
  double relative() const { return crps / persistence; }
  /// The share of values within the 90 % interval.
  double coverage() const { return covered / weight; }
};

/// The CRPS of quantiles of a value, at quantile_level().
double crps_of(const Quantiles& quantiles, double value);

/// Forecasts a log's own past from rolling origins, with the rates that came, and keeps the errors of each forecaster. Updated as the
/// log grows; each origin is forecast 10 blocks on when these are there, and again when 4 times as many are. A block without a loss is
/// no origin, and no forecast of it is scored.
class History {
 public:
  /// `stride`: the least distance of origins, in blocks; it grows to 1/32 of the blocks with a loss.
  /// The first forecaster is persistence.
  History(Forecasters forecasters, std::size_t longest, std::size_t stride);

  /// Takes the blocks that were added since the last call; begins anew if the training went back. All losses are positive.
  void update(const Blocks& blocks);
  const Forecasters& forecasters() const { return forecasters_; }
  const Calibrator& calibrator(std::size_t forecaster) const { return calibrators_[forecaster]; }
  /// Errors of past runs, see Calibrator::learn.
  void learn(std::size_t forecaster, std::map<std::size_t, std::vector<PastError>> errors, double most) {
    calibrators_[forecaster].learn(std::move(errors), most);
  }
  /// By forecaster and horizon: quantiles from the errors known at the origin, against what came. Only horizons of the grid.
  const std::map<std::size_t, Score>& scores(std::size_t forecaster) const { return scores_[forecaster]; }
  std::size_t count() const { return count_; }

 private:
  struct Tier {
    std::size_t first, last;  // horizons
    std::size_t next;         // origin
  };
  /// Calls use(origin) for the origins from `next` on after which `ahead` blocks came, and moves `next`.
  template <class Use>
  void each_origin(const Blocks& blocks, std::size_t& next, std::size_t ahead, const Use& use);
  void forecast(const Blocks& blocks, std::size_t origin, const Tier& tier);

  static constexpr std::size_t first_origin = 10;

  Forecasters forecasters_;
  std::vector<Calibrator> calibrators_;
  std::vector<std::map<std::size_t, Score>> scores_;
  std::vector<Tier> tiers_;
  std::int64_t restarts_ = 0;
  std::size_t stride_, count_ = 0;
};

/// The rates of `count` blocks from `first` on.
RateBlocks rates_of(const RateBlocks& blocks, std::size_t first, std::size_t count);

}  // namespace kolmo::predict
