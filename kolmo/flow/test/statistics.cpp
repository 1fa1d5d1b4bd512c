#include "kolmo/flow/test/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kolmo {
namespace {
constexpr double none = std::numeric_limits<double>::quiet_NaN();
}

std::string_view p_value_formula(PValue convention) {
  return convention == PValue::plus_one ? "(1 + #{surrogate >= observed}) / (1 + S)"
                                        : "#{surrogate >= observed} / S";
}

double p_of_counts(std::int64_t exceedances, std::int64_t surrogates, PValue convention) {
  if (surrogates == 0) return none;
  const double extra = convention == PValue::plus_one;
  return (extra + double(exceedances)) / (extra + double(surrogates));
}

double p_value(double observed, std::span<const double> surrogates, PValue convention) {
  const auto count =
      std::count_if(surrogates.begin(), surrogates.end(), [&](double s) { return s >= observed; });
  return p_of_counts(count, std::int64_t(surrogates.size()), convention);
}

bool is_significant(double p, double alpha, PValue convention) {
  return convention == PValue::plus_one ? p <= alpha : p < alpha;
}

std::vector<double> adjust(std::span<const double> p, Correction correction) {
  std::vector<double> q(p.begin(), p.end());
  for (double& v : q)
    if (std::isnan(v)) v = 1;
  const double count = double(q.size());
  if (correction == Correction::bonferroni)
    for (double& v : q) v = std::min(1.0, v * count);
  if (correction != Correction::bh) return q;

  std::vector<std::size_t> order(q.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return q[a] < q[b]; });
  double smallest = 1;
  for (std::size_t rank = order.size(); rank > 0; --rank) {
    double& v = q[order[rank - 1]];
    smallest = std::min(smallest, v * count / double(rank));
    v = smallest;
  }
  return q;
}

Summary summarize(std::span<const double> values) {
  if (values.empty()) return {none, none, none};
  const double n = double(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t rank = (values.size() * 95 + 99) / 100;
  return {mean, values.size() > 1 ? std::sqrt(squares / (n - 1)) : none, sorted[rank - 1]};
}

double sidak(std::span<const double> p) {
  if (p.empty()) return 1;
  const double smallest = *std::min_element(p.begin(), p.end());
  return smallest >= 1 ? 1 : -std::expm1(double(p.size()) * std::log1p(-smallest));
}

}  // namespace kolmo
