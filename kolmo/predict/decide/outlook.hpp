#pragma once
#include <span>
#include <string>
#include <vector>

#include "kolmo/predict/forecast/forecaster.hpp"

namespace kolmo::predict {

/// Reads a forecast at any step to come, seen from the step `now`. Between the steps of the forecast, and between its levels,
/// quantiles are interpolated linearly; before the first step and after the last they stay.
class Outlook {
 public:
  Outlook(const Forecast& forecast, std::int64_t now);
  /// `ahead`: how many steps from now, ascending. `quantiles`: a row for each of them, whose elements are at equally spaced levels, as
  /// .05, .10, ..., .95. Throws InvalidArgument for sizes that do not fit.
  Outlook(std::vector<double> ahead, std::vector<double> quantiles, std::string driver);

  const std::string& driver() const { return driver_; }
  /// The quantiles so many steps from now.
  std::vector<double> at(double ahead) const;
  double quantile(double level, double ahead) const;
  double median(double ahead) const { return quantile(.5, ahead); }
  /// The probability that the loss is below `loss` then; beyond the outer quantiles half of what lies there.
  double probability_below(double loss, double ahead) const;
  /// In how many steps the median is first at or below `loss`; infinite if it is not within the forecast.
  double reaches(double loss) const;

 private:
  double level(std::size_t i) const { return double(i + 1) / double(levels_ + 1); }
  double between(std::span<const double> quantiles, double level) const;

  std::vector<double> ahead_, quantiles_;
  std::size_t levels_;
  std::string driver_;
};

}  // namespace kolmo::predict
