#include "kolmo/flow/data/autocorrelation.hpp"

#include <algorithm>
#include <cmath>

namespace kolmo {
namespace {

/// Autocovariances, computed as far as they are asked for.
class Covariances {
 public:
  explicit Covariances(const Column& column) : column_(column), mean_(scaling_of(column.values).mean) {}

  double at(std::size_t lag) {
    while (found_.size() <= lag) {
      double sum = 0;
      column_.pairs(found_.size(), [&](double a, double b) { sum += (a - mean_) * (b - mean_); });
      found_.push_back(sum / double(column_.size()));
    }
    return found_[lag];
  }

 private:
  const Column& column_;
  double mean_;
  std::vector<double> found_;
};

constexpr std::size_t lags_below = 5;

std::size_t correlation_length(Covariances& covariance, std::size_t n) {
  const double noise = 2 * std::sqrt(std::log10(double(n)) / double(n)) * covariance.at(0);
  std::size_t below = 0, lag = 0;
  while (below < lags_below && lag < n / 2) below = std::abs(covariance.at(++lag)) < noise ? below + 1 : 0;
  return lag - below;
}

double block_length(Covariances& covariance, std::size_t n, std::size_t length) {
  const double root = std::ceil(std::sqrt(double(n)));
  const double reach = std::min(2 * std::max(1.0, double(length)), root + double(lags_below));
  double spectrum = covariance.at(0), slope = 0;  // g(0) and G of the sources
  for (std::size_t lag = 1; double(lag) <= reach && lag < n; ++lag) {
    const double weight = std::min(1.0, 2 * (1 - double(lag) / reach)), r = covariance.at(lag);
    spectrum += 2 * weight * r, slope += 2 * weight * double(lag) * r;
  }
  const double cubed = 2 * slope * slope / (4 / 3. * spectrum * spectrum) * double(n);
  const double most = std::ceil(std::min(3 * std::sqrt(double(n)), double(n) / 3));
  return std::isfinite(cubed) ? std::clamp(std::ceil(std::cbrt(cubed)), 1.0, most) : 1;
}

}  // namespace

Column column_of(const Series& series, std::size_t variable) {
  Column c;
  std::int32_t before = -1;
  for (std::size_t t = 0; t < series.set.size(); ++t) {
    if (series.set[t] >= 0) {
      c.values.push_back(series.values[variable][t]);
      c.begin.push_back(series.set[t] != before);
    }
    before = series.set[t];
  }
  return c;
}

Autocorrelation autocorrelation(const Column& column) {
  const std::size_t n = column.size();
  Covariances covariance(column);
  if (n < 4 || !(covariance.at(0) > 0)) return {};
  const std::size_t length = correlation_length(covariance, n);
  Autocorrelation a{std::int64_t(length), std::int64_t(block_length(covariance, n, length)), 1};
  for (std::size_t lag = 1; lag <= length; ++lag) {
    const double r = covariance.at(lag) / covariance.at(0);
    a.inflation += 2 * r * r;
  }
  return a;
}

}  // namespace kolmo
