#include "kolmo/predict/decide/alarm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kolmo::predict {
namespace {

constexpr std::size_t before = 20, least_before = 5, least_quarter = 10;
constexpr double above_quarter_before = 4, above_some_quarter = 6;  // standard errors
constexpr double deviation_of_median =
    1.4826;  // of a normal variable: its standard deviation over its median deviation

constexpr std::string_view drifts = "the loss drifts upwards";

bool finite(double x) { return std::isfinite(x); }

double median(std::vector<double> x) {
  const auto middle = x.begin() + std::ptrdiff_t(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  return x.size() % 2 ? *middle : (*middle + *std::max_element(x.begin(), middle)) / 2;
}

double mean(std::span<const double> x) {
  double sum = 0;
  for (const double value : x) sum += value;
  return sum / double(x.size());
}

/// A mean, and its variance for an autoregressive series of order 1 around a straight line.
struct Mean {
  double value, variance;
};
Mean mean_of(std::span<const double> x) {
  const double count = double(x.size()), centre = mean(x), middle = (count - 1) / 2;
  double slope = 0;
  for (std::size_t i = 0; i < x.size(); ++i) slope += (double(i) - middle) * (x[i] - centre);
  slope /= count * (count * count - 1) / 12;
  double squares = 0, products = 0, before = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double rest = x[i] - centre - slope * (double(i) - middle);
    squares += rest * rest, products += rest * before;
    before = rest;
  }
  double r = squares > 0 ? std::max(products / squares, 0.) : 0;
  r = std::min(.95, r + (2 + 4 * r) / count);  // the correlation around a fitted line is too low by so much
  return {centre, squares / (count - 2) / count * (1 + r) / (1 - r)};
}

/// Whether a mean is above another one by so many standard errors.
bool is_above(const Mean& now, const Mean& then, double errors) {
  return now.value - then.value >
         errors * std::sqrt(now.variance + then.variance) + 1e-12 * std::abs(then.value);
}

}  // namespace

std::string alarm_of(std::span<const double> losses) {
  if (losses.empty()) return "";
  const double last = losses.back();
  if (!finite(last)) return "the loss is not a finite number";
  const std::span<const double> earlier = losses.first(losses.size() - 1);
  std::vector<double> usual;
  for (const double loss : earlier.last(std::min(before, earlier.size())))
    if (finite(loss)) usual.push_back(loss);
  if (usual.size() >= least_before) {
    const double middle = median(usual);
    std::vector<double> deviations;
    deviations.reserve(usual.size());
    for (const double loss : usual) deviations.push_back(std::abs(loss - middle));
    const double spread = deviation_of_median * median(deviations);
    if (last > middle + 10 * spread && last > middle + std::abs(middle) / 2)
      return fmt::format("the loss exploded: {:.4g} after {:.4g}", last, middle);
  }
  const std::size_t quarter = losses.size() / 4;
  if (quarter < least_quarter) return "";
  const std::span<const double> last_half = losses.last(2 * quarter);
  if (!std::all_of(last_half.begin(), last_half.end(), finite)) return "";
  const Mean now = mean_of(last_half.last(quarter)), then = mean_of(last_half.first(quarter));
  const double few = 1 + 8 / double(quarter);  // errors of few blocks are known less well
  if (!is_above(now, then, above_quarter_before * few)) return "";
  for (std::size_t end = quarter; end <= losses.size() - quarter;
       end += std::max<std::size_t>(1, quarter / 2)) {
    const std::span<const double> some = losses.first(end).last(quarter);
    if (!std::all_of(some.begin(), some.end(), finite)) continue;
    if (const Mean earlier = mean_of(some); is_above(now, earlier, above_some_quarter * few))
      return fmt::format("{}: {:.4g} on average, then {:.4g}", drifts, earlier.value, now.value);
  }
  return "";
}

bool only_drifts(std::string_view reason) { return reason.starts_with(drifts); }

}  // namespace kolmo::predict
