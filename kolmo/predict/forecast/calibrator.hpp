#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "kolmo/predict/forecast/forecaster.hpp"

namespace kolmo::predict {

/// The noise of log loss near the end of what was seen: the robust standard deviation of the differences of neighbours among the
/// last 30 blocks that are known, divided by sqrt 2; 1e-6 at least.
double noise_of(const Seen& seen);

/// The unit in which the error of a prediction of the i-th block is kept: root of noise^2 + (3 spread)^2. So intervals are wide where
/// the forecaster doubts itself, as on a training unlike those that it has learned from.
double error_unit(double noise, const Prediction& prediction, std::size_t i);

/// An error of a forecast: log loss less centre, in its unit when it was made.
struct PastError {
  double error = 0;
  double weight = 1;
};

/// The quantiles of the next error, at quantile_level(): split-conformal, from errors that were made. With n = `independent` errors or
/// more than 20, those of the weighted sample, where a level p is the (n + 1) p-th; with fewer, those of Student's distribution
/// around the median, which is shrunk by n / (n + 3). Errors of forecasts that overlap count as fewer than they are. Without
/// any errors: normal of deviation 1.
Quantiles error_quantiles(std::span<const PastError> errors, double independent);

/// The errors of one forecaster by horizon, and the quantiles that follow.
class Calibrator {
 public:
  /// The errors of a forecast made after block `origin`: one for each of the horizons from `first` on, NaN where none is known.
  /// `known`: the blocks up to the origin that have a loss. Origins lie the closer the fewer they are.
  void add(std::size_t origin, std::size_t known, std::size_t first, std::span<const double> errors);
  /// Forgets all errors that were added.
  void forget() { own_.clear(); }
  /// Errors of past runs, by horizon, which count as `most` independent ones together.
  void learn(std::map<std::size_t, std::vector<PastError>> errors, double most);

  /// The quantiles of the error at a horizon, when `count` blocks have been seen: interpolated between horizons, and from the longest
  /// horizon that has errors on wider by the square root of the horizon.
  Quantiles at(std::size_t horizon, std::size_t count) const;
  /// The longest horizon whose errors at() takes; beyond it, it extrapolates. 0: there are none.
  std::size_t reach(std::size_t count) const;
  /// The errors at a horizon that are due by `count`, in the order of their origins.
  struct Made {
    std::size_t origin, known;
    double error;
  };
  std::span<const Made> errors(std::size_t horizon) const;
  /// The quantiles from the errors that were due by `count`, at a horizon of the grid.
  Quantiles quantiles(std::size_t horizon, std::size_t count) const;
  /// Whose errors the quantiles come from, in words.
  std::string source() const;

 private:
  /// The quantiles at the i-th known horizon, each between those of its neighbours: a spike, which is an error at some horizons only,
  /// widens none of them alone.
  Quantiles smooth(const std::vector<std::size_t>& known, std::size_t i, std::size_t count) const;

  /// The horizons up to `longest` whose errors span enough of the log, or are of past runs.
  std::vector<std::size_t> known(std::size_t longest, std::size_t count) const;

  std::map<std::size_t, std::vector<Made>> own_;
  std::map<std::size_t, std::vector<PastError>> learned_;
  double learned_weight_ = 0;
};

/// The horizons, in blocks, at which errors are kept: 1, 2, 3, 5, 7, 10 and from there on a third more each.
bool kept_horizon(std::size_t horizon);
std::vector<std::size_t> kept_horizons(std::size_t longest);

}  // namespace kolmo::predict
