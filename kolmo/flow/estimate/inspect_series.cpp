#include "kolmo/flow/estimate/inspect_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kolmo/flow/data/autocorrelation.hpp"
#include "kolmo/flow/data/lane_sums.hpp"
#include "kolmo/knn/sort.hpp"

namespace kolmo {
namespace {

using Values = std::vector<double>;

/// What the values of a column are without their order in time.
struct Distribution {
  Values sorted;
  std::size_t different = 0, repeated = 0;  ///< repeated: rows whose value occurs elsewhere too

  explicit Distribution(Values values) : sorted(std::move(values)) {
    knn::sort(sorted.data(), sorted.size());
    const std::size_t n = sorted.size();
    for (std::size_t i = 0, next; i < n; i = next) {
      for (next = i + 1; next < n && sorted[next] == sorted[i];) ++next;
      ++different;
      if (next - i > 1) repeated += next - i;
    }
  }
};

/// The t statistic of b in x(t) - x(t - 1) = a + b x(t - 1) + noise.
double dickey_fuller(const Column& c) {
  const auto n = double(c.pairs(1));
  if (n < 10) return -INFINITY;
  const Scaling z = scaling_of(c.values);
  double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
  for (const Stretch& s : c.sets) {
    const auto sums = lane_sums<5>(
        s.size() - 1, [&z, from = &c.values[s.begin]]<class V>(std::size_t t, std::array<V, 5>& terms) {
          V x, y;
          read(from + t, x), read(from + t + 1, y);
          y = (y - x) / z.deviation, x = (x - z.mean) / z.deviation;
          terms[0] = x, terms[1] = y, terms[2] = x * x, terms[3] = x * y, terms[4] = y * y;
        });
    sx += sums[0], sy += sums[1], sxx += sums[2], sxy += sums[3], syy += sums[4];
  }
  const double rounding = 1e-12 * sxx;
  sxx -= sx * sx / n, sxy -= sx * sy / n, syy -= sy * sy / n;
  if (sxx <= rounding) return -INFINITY;  // the values before are all equal
  const double b = sxy / sxx, rest = syy - b * sxy;
  return b / std::sqrt(std::max(rest, 0.0) / (n - 2) / sxx);
}

/// Whether every step is 0 or one other number, up to the rounding of the values and a thousandth of the step.
bool counts(const Column& c) {
  double step = 0;
  std::size_t steps = 0;
  for (const Stretch& s : c.sets)
    for (std::size_t t = s.begin + 1; t < s.end; ++t) {
      const double now = c.values[t], before = c.values[t - 1], d = now - before;
      if (d == 0) continue;
      if (steps == 0) step = d;
      const double largest = std::max(std::abs(now), std::abs(before));
      if (std::abs(d - step) > std::min(1e-9 * largest, 1e-3 * std::abs(step))) return false;
      ++steps;
    }
  return steps >= 3;
}

/// A row of a column whose value differs from that `lag` rows before.
struct Difference {
  Stretch set;
  std::size_t row;

  bool at(const Column& c, std::size_t lag) const {
    return row >= set.begin + lag && c.values[row] != c.values[row - lag];
  }
};

/// The first such row; row 0 if there is none.
Difference first_difference(const Column& c, std::size_t lag) {
  for (const Stretch& s : c.sets)
    for (Difference d{s, s.begin + lag}; d.row < s.end; ++d.row)
      if (d.at(c, lag)) return d;
  return {{0, 0}, 0};
}

/// The smallest number of rows after which the values repeat exactly, at least three times; 0 if there is none.
std::size_t period(const Column& c) {
  Difference found{{0, 0}, 0};
  for (std::size_t lag = 2; lag <= std::min<std::size_t>(c.size() / 3, 1000); ++lag) {
    if (found.at(c, lag)) continue;
    found = first_difference(c, lag);
    if (found.row == 0 && c.pairs(lag) >= 2 * lag) return lag;
  }
  return 0;
}

/// The length of a run of one value that is worth telling, else 0. Looks at every tenth row at
/// least, of which such a run has two.
std::size_t long_run(const Column& c, std::size_t different) {
  constexpr std::size_t shortest = 21, step = 10;
  std::size_t longest = 0;
  if (different < shortest) return 0;
  for (const Stretch& s : c.sets)
    for (std::size_t t = s.begin, next; t + 1 < s.end; t = next) {
      const double* const v = c.values.data();
      std::size_t first = t, end = t + 1;
      while (end < s.end && v[end] == v[t]) ++end;
      next = std::max(end, t + step);
      if (end == t + 1) continue;
      while (first > s.begin && v[first - 1] == v[t]) --first;
      longest = std::max(longest, end - first);
    }
  return longest >= shortest && double(longest) > double(c.size()) / 20 ? longest : 0;
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
    if (is_constant(c.values)) {
      found.add("constant", name);
      continue;
    }
    const auto n = double(c.size());
    if (counts(c)) {
      found.add("counter", name);
      continue;
    }
    if (const std::size_t p = period(c)) {
      found.add("periodic", fmt::format("{} (every {} rows)", name, p));
      continue;
    }
    if (options.surrogates) {
      const double effective = n / autocorrelation(c).inflation;
      const std::string rows =
          fmt::format("{} ({} rows count as {:.0f})", name, c.size(), std::max(1.0, effective));
      if (effective < n / inflated && !kind_of(options.surrogate_type).keeps_autocorrelation)
        found.add("autocorrelated", rows);
      else if (effective < n / inflated && effective < few_effective_rows)
        found.add("few_effective_rows", rows);
    }
    if (dickey_fuller(c) > critical_t) found.add("unit_root", name);
    const Distribution values(c.gathered());
    if (const std::size_t run = continuous ? long_run(c, values.different) : 0)
      found.add("constant_run", fmt::format("{} ({} rows)", name, run));
    if (const auto repeated = double(values.repeated); continuous && repeated > n / 10) {
      found.add("repeated_values", fmt::format("{} ({:.0f} %)", name, 100 * repeated / n));
      few_values |= values.different <= 10 || (repeated > n / 2 && double(values.different) <= n / 5);
    }
  }
  std::vector<Warning> all;
  found.tell("constant", "never changes: what is measured of it alone, or of it and others, is 0", all);
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
    const std::size_t different = Distribution(c.gathered()).different,
                      run = different < 2 ? c.size() : long_run(c, different);
    if (run) all += fmt::format("{}{} ({} rows)", all.empty() ? "" : ", ", series.names[v], run);
  }
  return all;
}

}  // namespace kolmo
