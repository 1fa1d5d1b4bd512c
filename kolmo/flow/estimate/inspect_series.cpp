#include "kolmo/flow/estimate/inspect_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kolmo/flow/data/autocorrelation.hpp"

namespace kolmo {
namespace {

/// The t statistic of b in x(t) - x(t - 1) = a + b x(t - 1) + noise.
double dickey_fuller(const Column& c) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
  c.pairs(1, [&](double now, double before) {
    const double y = now - before;
    ++n, sx += before, sy += y;
  });
  if (n < 10) return -INFINITY;
  c.pairs(1, [&](double now, double before) {
    const double x = before - sx / n, y = now - before - sy / n;
    sxx += x * x, sxy += x * y, syy += y * y;
  });
  const double b = sxy / sxx, rest = syy - b * sxy;
  return b / std::sqrt(std::max(rest, 0.0) / (n - 2) / sxx);
}

bool counts(const Column& c) {
  double step = 0;
  std::size_t steps = 0, others = 0;
  c.pairs(1, [&](double now, double before) {
    const double d = now - before;
    if (d == 0) return;
    if (steps == 0) step = d;
    ++(std::abs(d - step) <= 1e-9 * std::max(std::abs(now), std::abs(before)) ? steps : others);
  });
  return steps >= 3 && others == 0;
}

/// The smallest number of rows after which the values repeat exactly, at least three times; 0 if there is none.
std::size_t period(const Column& c) {
  for (std::size_t lag = 2; lag <= std::min<std::size_t>(c.size() / 3, 1000); ++lag) {
    std::size_t pairs = 0;
    bool same = true;
    c.pairs(lag, [&](double now, double before) { return ++pairs, same = now == before; });
    if (same && pairs >= 2 * lag) return lag;
  }
  return 0;
}

std::size_t longest_run(const Column& c) {
  std::size_t run = 1, longest = 1;
  for (std::size_t t = 1; t < c.size(); ++t) {
    run = !c.begin[t] && c.values[t] == c.values[t - 1] ? run + 1 : 1;
    longest = std::max(longest, run);
  }
  return longest;
}

/// The length of a run of one value that is worth telling, else 0.
std::size_t long_run(const Column& c, std::size_t different) {
  const std::size_t run = longest_run(c);
  return run > 20 && double(run) > double(c.size()) / 20 && different > 20 ? run : 0;
}

}  // namespace

std::vector<Warning> inspect(const Series& series, const EstimatorOptions& options) {
  constexpr double critical_t = -2.86, inflated = 1.5, few_effective_rows = 40;
  const bool continuous = options.estimator == Estimator::ksg || options.estimator == Estimator::gaussian;
  bool few_values = false;
  SharedWarnings found;
  for (std::size_t v = 0; v < series.names.size(); ++v) {
    const std::string& name = series.names[v];
    const Column c = column_of(series, v);
    std::map<double, std::size_t> count;
    for (const double value : c.values) ++count[value];
    if (count.size() < 2) continue;
    const auto n = double(c.size());
    if (counts(c)) {
      found.add("counter", name);
      continue;
    }
    if (const std::size_t p = period(c)) {
      found.add("periodic", fmt::format("{} (every {} rows)", name, p));
      continue;
    }
    if (const double effective = n / autocorrelation(c).inflation; options.surrogates) {
      const std::string rows =
          fmt::format("{} ({} rows count as {:.0f})", name, c.size(), std::max(1.0, effective));
      if (effective < n / inflated && !kind_of(options.surrogate_type).keeps_autocorrelation)
        found.add("autocorrelated", rows);
      else if (effective < n / inflated && effective < few_effective_rows)
        found.add("few_effective_rows", rows);
    }
    if (dickey_fuller(c) > critical_t) found.add("unit_root", name);
    if (const std::size_t run = long_run(c, count.size()); continuous && run)
      found.add("constant_run", fmt::format("{} ({} rows)", name, run));
    double repeated = 0;
    for (const auto& [value, times] : count) repeated += times > 1 ? double(times) : 0;
    if (continuous && repeated > n / 10) {
      found.add("repeated_values", fmt::format("{} ({:.0f} %)", name, 100 * repeated / n));
      few_values |= count.size() <= 10 || (repeated > n / 2 && double(count.size()) <= n / 5);
    }
  }
  std::vector<Warning> all;
  found.tell("autocorrelated",
             "permutation surrogates lose the autocorrelation, so that p-values are too small; "
             "--surrogate-type circular keeps it",
             all);
  found.tell(
      "few_effective_rows",
      "so autocorrelated that p-values may be too small with any surrogates; more rows help, or --transform "
      "difference",
      all);
  found.tell("unit_root",
             "may have a unit root or a trend; such series seem related when they are not; see --transform "
             "difference",
             all);
  found.tell("counter", "only counts rows, and belongs in no analysis of information flow", all);
  found.tell("periodic", "repeats exactly, and predicts whatever has this period", all);
  found.tell("constant_run", "longest run of one value", all);
  found.tell(
      "repeated_values",
      std::string("values that occur more than once; the estimator assumes continuous ones") +
          (few_values ? "; --estimator discrete of mi, te, ais and network is for few different values" : ""),
      all);
  return all;
}

std::string constant_stretches(const Series& series) {
  std::string all;
  for (std::size_t v = 0; v < series.names.size(); ++v) {
    const Column c = column_of(series, v);
    const std::size_t different = std::set<double>(c.values.begin(), c.values.end()).size(),
                      run = different < 2 ? c.size() : long_run(c, different);
    if (run) all += fmt::format("{}{} ({} rows)", all.empty() ? "" : ", ", series.names[v], run);
  }
  return all;
}

}  // namespace kolmo
