#include "kolmo/predict/decide/outlook.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/base/error.hpp"

namespace kolmo::predict {
namespace {

std::vector<double> steps_from(const Forecast& forecast, std::int64_t now) {
  std::vector<double> ahead;
  for (const std::int64_t step : forecast.step) ahead.push_back(double(step - now));
  return ahead;
}

std::vector<double> rows_of(const Forecast& forecast) {
  std::vector<double> rows;
  for (const Quantiles& q : forecast.quantiles) rows.insert(rows.end(), q.begin(), q.end());
  return rows;
}

/// The first index whose element is above x, and the share of the way from the element before it; x lies within the elements.
struct Place {
  std::size_t after;
  double share;
};
Place place(std::span<const double> ascending, double x) {
  const auto after = std::upper_bound(ascending.begin(), ascending.end(), x);
  const double low = *(after - 1);
  return {std::size_t(after - ascending.begin()), (x - low) / (*after - low)};
}

}  // namespace

Outlook::Outlook(const Forecast& forecast, std::int64_t now)
    : Outlook(steps_from(forecast, now), rows_of(forecast), forecast.driver) {}

Outlook::Outlook(std::vector<double> ahead, std::vector<double> quantiles, std::string driver)
    : ahead_(std::move(ahead)), quantiles_(std::move(quantiles)), driver_(std::move(driver)) {
  require(!ahead_.empty() && !quantiles_.empty() && quantiles_.size() % ahead_.size() == 0,
          "outlook: " + std::to_string(quantiles_.size()) + " quantiles for " +
              std::to_string(ahead_.size()) + " steps; each step needs as many, one at least");
  levels_ = quantiles_.size() / ahead_.size();
}

std::vector<double> Outlook::at(double ahead) const {
  const auto row = [&](std::size_t i) { return std::span(quantiles_).subspan(i * levels_, levels_); };
  const auto copy = [](std::span<const double> q) { return std::vector<double>(q.begin(), q.end()); };
  if (ahead <= ahead_.front()) return copy(row(0));
  if (ahead >= ahead_.back()) return copy(row(ahead_.size() - 1));
  const Place p = place(ahead_, ahead);
  std::vector<double> q = copy(row(p.after - 1));
  for (std::size_t i = 0; i < levels_; ++i) q[i] += p.share * (row(p.after)[i] - q[i]);
  return q;
}

double Outlook::between(std::span<const double> quantiles, double wanted) const {
  const double place = wanted * double(levels_ + 1) - 1;
  if (place <= 0) return quantiles.front();
  if (place >= double(levels_ - 1)) return quantiles.back();
  const auto below = std::size_t(place);
  return quantiles[below] + (place - double(below)) * (quantiles[below + 1] - quantiles[below]);
}

double Outlook::quantile(double wanted, double ahead) const { return between(at(ahead), wanted); }

double Outlook::probability_below(double loss, double ahead) const {
  const std::vector<double> q = at(ahead);
  if (loss < q.front()) return level(0) / 2;
  if (loss >= q.back()) return 1 - level(0) / 2;
  const Place p = place(q, loss);
  return level(p.after - 1) + p.share * (level(p.after) - level(p.after - 1));
}

double Outlook::reaches(double loss) const {
  for (std::size_t i = 0; i < ahead_.size(); ++i)
    if (between(std::span(quantiles_).subspan(i * levels_, levels_), .5) <= loss) return ahead_[i];
  return INFINITY;
}

}  // namespace kolmo::predict
