#include "kolmo/tune/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kolmo::tune {
namespace {

/// The largest k such that the probability of fewer than k heads among n fair coins is at most 2.5 %.
std::size_t sign_test_rank(std::size_t n) {
  double log_term = -double(n) * std::log(2.0), sum = 0;  // log of C(n, 0) / 2^n
  std::size_t k = 0;
  while (k <= n) {
    sum += std::exp(log_term);
    if (sum > 0.025) break;
    log_term += std::log(double(n - k)) - std::log(double(k + 1));
    ++k;
  }
  return k;
}

Ratio interval(std::vector<double> values) {
  Ratio r{std::numeric_limits<double>::quiet_NaN(), 0, std::numeric_limits<double>::infinity(),
          int(values.size())};
  if (values.empty()) return r;
  std::sort(values.begin(), values.end());
  r.median = quantile(values, 0.5);
  if (const std::size_t k = sign_test_rank(values.size())) {
    r.lower = values[k - 1];
    r.upper = values[values.size() - k];
  }
  return r;
}

}  // namespace

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const double at = q * double(values.size() - 1);
  const auto low = std::size_t(at), high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - double(low)) * (values[high] - values[low]);
}

Ratio paired_ratio(std::span<const double> slow, std::span<const double> fast) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(slow.size(), fast.size()); ++i)
    if (const double r = slow[i] / fast[i]; std::isfinite(r)) ratios.push_back(r);
  return interval(std::move(ratios));
}

Ratio median_interval(std::span<const double> values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](double v) { return std::isfinite(v); });
  return interval(std::move(finite));
}

}  // namespace kolmo::tune
