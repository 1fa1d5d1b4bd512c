#pragma once
#include <array>
#include <cstdint>
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

  std::span<const double> loss() const { return first(blocks.loss); }
  std::span<const double> gradient_norm() const { return first(blocks.gradient_norm); }
  std::span<const double> rate() const { return first(blocks.rate); }
  std::span<const double> slope() const { return first(blocks.slope); }
  std::span<const double> sum() const { return first(blocks.sum); }
  std::span<const double> averaged() const { return first(blocks.averaged); }

 private:
  std::span<const double> first(const std::vector<double>& v) const { return std::span(v).first(count); }
};

/// Forecasts a training from what was seen of it and the rates planned. A pure function: equal arguments give equal bits.
class Forecaster {
 public:
  virtual ~Forecaster() = default;
  virtual std::string_view name() const = 0;
  /// The fewest blocks that it needs to have seen.
  virtual std::size_t least() const { return 2; }
  /// The centre (median) of the logarithm of the mean loss of each block that comes, one for each block of `planned`. `seen` has
  /// least() blocks or more, all losses in it are positive.
  virtual std::vector<double> centres(const Seen& seen, const RateBlocks& planned) const = 0;
};

/// What becomes of the loss. All vectors have one element a block that comes; a loss is the mean over the block that ends there.
struct Forecast {
  std::vector<std::int64_t> step;    ///< the last step of the block
  std::vector<double> mean, median;  ///< of the loss
  std::vector<Quantiles> quantiles;  ///< of the loss, at quantile_level()
  std::vector<double> rate;          ///< planned
  std::string driver;                ///< the forecaster whose centres these are
  std::string calibrated_on;         ///< whose errors the quantiles come from, in words
};

}  // namespace kolmo::predict
