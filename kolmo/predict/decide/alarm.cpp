#include "kolmo/predict/decide/alarm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kolmo::predict {
namespace {

constexpr std::size_t before = 20, least_before = 5, least_quarter = 20;
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

/// The variance of the mean of an autoregressive series of order 1.
double variance_of_mean(std::span<const double> x) {
  const double centre = mean(x), count = double(x.size());
  double squares = 0, products = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    squares += (x[i] - centre) * (x[i] - centre);
    if (i) products += (x[i] - centre) * (x[i - 1] - centre);
  }
  const double r = squares > 0 ? std::clamp(products / squares, 0., .95) : 0;
  return squares / (count - 1) / count * (1 + r) / (1 - r);
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
  const std::span<const double> now = losses.last(quarter), then = losses.last(2 * quarter).first(quarter);
  if (!std::all_of(then.begin(), then.end(), finite) || !std::all_of(now.begin(), now.end(), finite))
    return "";
  const double error = std::sqrt(variance_of_mean(then) + variance_of_mean(now));
  if (mean(now) - mean(then) <= 5 * error + 1e-12 * std::abs(mean(then))) return "";
  return fmt::format("{}: {:.4g} on average, then {:.4g}", drifts, mean(then), mean(now));
}

bool only_drifts(std::string_view reason) { return reason.starts_with(drifts); }

}  // namespace kolmo::predict
