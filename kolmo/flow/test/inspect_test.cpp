#include "kolmo/flow/test/inspect_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kolmo/flow/data/autocorrelation.hpp"
#include "kolmo/flow/estimate/discrete.hpp"

namespace kolmo {
namespace {

/// Autocorrelations at lags 1, 2, ... of pairs within one set, up to the first within its noise of
/// 2 / sqrt(N), at most 200.
std::vector<double> autocorrelations(const Series& series, std::size_t variable) {
  constexpr std::size_t most = 200;
  const Column column = column_of(series, variable);
  Autocovariances covariance(column);
  const double least = 2 / std::sqrt(double(column.size()));
  std::vector<double> r;
  for (std::size_t lag = 1; lag <= std::min(most, column.values.size() / 2); ++lag) {
    const double now = covariance.at(lag);
    if (!(std::abs(now) >= least)) break;
    r.push_back(now);
  }
  return r;
}

}  // namespace

std::optional<Warning> few_surrogates(std::int64_t different, const EstimatorOptions& o,
                                      std::int64_t wanted) {
  if (different >= wanted) return {};
  std::string text =
      fmt::format("the data allow only {} different {} surrogates, so that no p-value is below {:.2g}",
                  different, kind_of(o.surrogate_type).name, 1 / double(1 + different));
  if (different < few_different) return Warning{"few_surrogates", std::move(text)};
  text += fmt::format(": a test was to have {}", wanted);
  if (o.surrogate_type == SurrogateMethod::circular) text += ", and --surrogate-type block has as many";
  return Warning{"fewer_surrogates", std::move(text)};
}

const std::vector<double>& AnalyticTests::autocorrelations(std::int32_t variable) {
  const auto [at, is_new] = known_.try_emplace(variable);
  if (is_new) at->second = kolmo::autocorrelations(series_, std::size_t(variable));
  return at->second;
}

void AnalyticTests::add(std::int32_t x, std::int32_t y, std::size_t rows) {
  constexpr double inflated = 1.5;
  const auto &rx = autocorrelations(x), &ry = autocorrelations(y);
  double inflation = 1;
  for (std::size_t i = 0; i < std::min(rx.size(), ry.size()); ++i) inflation += 2 * rx[i] * ry[i];
  if (inflation > inflated)
    found_.add("analytic_test",
               fmt::format("{} and {} ({} rows count as {:.0f} or fewer)", series_.names[std::size_t(x)],
                           series_.names[std::size_t(y)], rows, std::max(1.0, double(rows) / inflation)));
}

std::vector<Warning> AnalyticTests::warnings() const {
  std::vector<Warning> all;
  found_.tell("analytic_test",
              "both are autocorrelated, so that the analytic p-value is too small; --surrogates with "
              "--surrogate-type circular keeps that; te and network condition on the target's past",
              all);
  return all;
}

std::vector<Warning> inspect_analytic_test(const Series& series, const EstimationTask& task,
                                           const EstimatorOptions& options) {
  AnalyticTests tests(series);
  if (!options.tested_analytically()) return {};
  for (const Coordinate& x : task.x.at(0))
    for (const Coordinate& y : task.y) tests.add(x.variable, y.variable, task.times.size());
  return tests.warnings();
}

std::vector<Warning> trials_cut(std::size_t used, std::size_t all) {
  if (used == all) return {};
  return {Warning{
      "trials_cut",
      fmt::format("surrogates by trials exchange trials of equal length, so that {} of {} embedded "
                  "rows are left out at the ends of longer trials; --surrogate-type circular uses all",
                  all - used, all)}};
}

std::vector<Warning> inspect_estimator(const Series& series, const EstimationTask& task,
                                       std::size_t alternative, const EstimatorOptions& o) {
  std::vector<Warning> all;
  if (o.estimator == Estimator::ksg && o.algorithm == KsgAlgorithm::ksg2 && !task.z.empty())
    all.push_back({"ksg2_biased",
                   "ksg2 with a condition is biased: where nothing flows it finds about 0.03 nats in 300 "
                   "rows, 0.012 in "
                   "20,000 and 0.009 in 100,000; --algorithm ksg1 is not"});
  const std::string states = undersampled_states(series, task, alternative, o);
  if (!states.empty())
    all.push_back(
        {"undersampled", states + ", so that the value grows with the number of states, whatever flows; a "
                                  "shorter past, fewer conditions or more rows help"});
  return all;
}

}  // namespace kolmo
