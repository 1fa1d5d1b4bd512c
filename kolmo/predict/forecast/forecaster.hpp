#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/predict/record/training_log.hpp"

namespace kolmo::predict {

/// The levels of the quantiles of a forecast: .05, .10, ..., .95.
inline constexpr std::size_t quantile_count = 19;
using Quantiles = std::array<double, quantile_count>;
constexpr double quantile_level(std::size_t i) { return double(i + 1) / double(quantile_count + 1); }

/// The first blocks of a training, as a forecaster sees them at some time; what the blocks hold beyond them is not looked at.
struct Seen {
  const Blocks& blocks;
  std::size_t count;

  bool knows(std::size_t block) const { return blocks.knows(block); }
  /// Returns the number of blocks that have a loss.
  std::size_t known() const {
    const auto& gaps = blocks.gaps;
    return count - std::size_t(std::lower_bound(gaps.begin(), gaps.end(), count) - gaps.begin());
  }
  std::span<const double> loss() const { return first(blocks.loss); }
  std::span<const double> gradient_norm() const { return first(blocks.gradient_norm); }
  std::span<const double> rate() const { return first(blocks.rate); }
  std::span<const double> slope() const { return first(blocks.slope); }
  std::span<const double> sum() const { return first(blocks.sum); }
  std::span<const double> averaged() const { return first(blocks.averaged); }

 private:
  std::span<const double> first(const std::vector<double>& v) const { return std::span(v).first(count); }
};

/// A forecaster's centre and doubt for each block that comes.
struct Prediction {
  std::vector<double> centres{};  ///< the median of the logarithm of the mean loss of the block
  std::vector<double> spread{};   ///< its own doubt of the centre, a standard deviation; empty: it has none
  std::vector<double> apart{};    ///< how far its parts lie from the centre, if it is a mean of parts
};

/// Forecasts a training from what was seen of it and the rates planned. A pure function: equal arguments give equal bits.
class Forecaster {
 public:
  virtual ~Forecaster() = default;
  virtual std::string_view name() const = 0;
  /// The fewest blocks that it needs to have seen.
  virtual std::size_t least() const { return 2; }
  /// Whether it can forecast from this: it has seen least() blocks, and what else it needs.
  virtual bool able(const Seen& seen) const { return seen.known() >= least(); }
  /// Whether its centres follow the planned rates, so that it may forecast a decay.
  virtual bool knows_rates() const { return false; }
  /// How many blocks ahead it may drive. A trend that goes on is no forecast of what comes much later; a law is.
  virtual std::size_t reach(const Seen&) const { return std::numeric_limits<std::size_t>::max(); }
  /// Whether past runs taught it what a decay gains, so that its errors on them tell how uncertain that is.
  virtual bool learned_gain() const { return false; }
  /// Whether the training is unlike those that it has learned from.
  virtual bool unlike(const Seen&) const { return false; }
  /// What its CRPS usually is, in units of that of persistence at the same origins: its standing before it has one.
  virtual double usual_score() const { return 1; }
  /// One value for each block of `planned`. It is able() to, and all losses are positive.
  virtual Prediction predict(const Seen& seen, const RateBlocks& planned) const = 0;
  std::vector<double> centres(const Seen& seen, const RateBlocks& planned) const {
    return predict(seen, planned).centres;
  }
};

/// A forecast of the loss. All vectors have one element a block that comes; a loss is the mean over the block that ends there.
struct Forecast {
  std::vector<std::int64_t> step;    ///< the last step of the block
  std::vector<double> mean, median;  ///< of the loss
  std::vector<Quantiles> quantiles;  ///< of the loss, at quantile_level()
  std::vector<double> rate;          ///< planned
  double noise = 0;                  ///< standard deviation of log loss from block to block
  std::string driver;                ///< the forecaster whose centres these are
  bool unlike_past = false;   ///< the training is unlike the runs of the store, see Forecaster::unlike()
  std::string calibrated_on;  ///< whose errors the quantiles come from, in words
};

}  // namespace kolmo::predict
