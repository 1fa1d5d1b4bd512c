#include "kolmo/flow/data/series.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kolmo/base/error.hpp"
#include "kolmo/flow/data/lane_sums.hpp"
#include "kolmo/flow/data/noise.hpp"
#include "kolmo/flow/data/variable_key.hpp"

namespace kolmo {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

void take_logarithms(const Table& table, std::size_t column, std::vector<double>& v) {
  for (std::size_t t = 0; t < v.size(); ++t) {
    if (v[t] <= 0)
      fail<InvalidArgument>(table.file + ": row " + std::to_string(t) + ", " + column_label(table, column) +
                            ": the logarithm needs numbers above 0");
    v[t] = std::log(v[t]);
  }
}

/// Steps that differ by no more than the rounding of the values, such as those of 0.1, 0.2, 0.3, ..., become equal.
void difference(std::vector<double>& v) {
  if (v.empty()) return;
  const double rounding = 2 * std::numeric_limits<double>::epsilon() * largest_magnitude(v);
  for (std::size_t t = 0; t + 1 < v.size(); ++t) v[t] = v[t + 1] - v[t];
  v.pop_back();
  const auto first = std::find_if(v.begin(), v.end(), [](double step) { return !std::isnan(step); });
  const auto differs = [&](double step) { return std::abs(step - *first) > rounding; };
  if (std::any_of(first, v.end(), differs)) return;
  for (double& step : v)
    if (!std::isnan(step)) step = *first;
}

std::vector<double> transformed(const Table& table, std::size_t column, Transform transform) {
  std::vector<double> v = table.columns[column];
  if (transform == Transform::log || transform == Transform::log_difference)
    take_logarithms(table, column, v);
  if (transform == Transform::difference || transform == Transform::log_difference) difference(v);
  return v;
}

using Values = std::span<const double>;

/// Which rows have a missing value in any of the columns; empty if none has.
std::vector<char> missing_rows(const std::vector<Values>& columns) {
  std::vector<char> rows;
  for (const Values v : columns) {
    if (std::none_of(v.begin(), v.end(), [](double x) { return std::isnan(x); })) continue;
    rows.resize(v.size());
    for (std::size_t t = 0; t < v.size(); ++t) rows[t] |= char(std::isnan(v[t]));
  }
  return rows;
}

void split_into_sets(Series& s) {
  const std::vector<char> gap = missing_rows({s.values.begin(), s.values.end()});
  s.set.resize(s.values[0].size());
  if (gap.empty() && s.trial.empty()) {
    s.sets = !s.set.empty();
    return;
  }
  bool open = false;
  for (std::size_t t = 0; t < s.set.size(); ++t) {
    const bool whole = gap.empty() || !gap[t];
    const bool first = t == 0 || (!s.trial.empty() && s.trial[t] != s.trial[t - 1]);
    s.sets += whole && (!open || first);
    open = whole;
    s.set[t] = whole ? s.sets - 1 : -1;
  }
  for (auto& v : s.values)
    for (std::size_t t = 0; t < gap.size(); ++t)
      if (gap[t]) v[t] = missing;
}

/// Row t of a differenced series is row t + 1 of the table less row t.
void remove_differences_across_trials(Series& s) {
  for (std::size_t t = 0; t + 1 < s.trial.size(); ++t)
    if (s.trial[t] != s.trial[t + 1])
      for (auto& v : s.values) v[t] = missing;
  s.trial.erase(s.trial.begin());
}

}  // namespace

bool is_constant(std::span<const double> values) {
  double first = missing;
  for (const double v : values) {
    if (std::isnan(first)) first = v;
    if (!std::isnan(v) && v != first) return false;
  }
  return true;
}

std::vector<Stretch> stretches(const Series& series) {
  const std::vector<std::int32_t>& set = series.set;
  if (series.sets == 1 && set.front() == 0 && set.back() == 0) return {{0, set.size()}};
  std::vector<Stretch> all;
  for (std::size_t t = 0; t < set.size(); ++t) {
    if (set[t] < 0) continue;
    if (t == 0 || set[t] != set[t - 1]) all.push_back({t, t});
    all.back().end = t + 1;
  }
  return all;
}

// Sums are taken in the order of the rows, as by JIDT: where the data are rounded, the last bits decide between ties.
Scaling scaling_of(std::span<const double> values) {
  const auto known = std::find_if(values.begin(), values.end(), [](double v) { return !std::isnan(v); });
  if (known == values.end()) return {};
  if (is_constant(values)) return {*known, 1};
  const double largest = largest_magnitude(values);
  const double unit = largest > 0x1p300 || largest < 0x1p-300  // values times `unit` are near 1
                          ? std::scalbn(1.0, std::clamp(-std::ilogb(largest), -1000, 1000))
                          : 1;
  double sum = 0, squares = 0;
  std::int64_t n = 0;
  for (const double v : values)
    if (!std::isnan(v)) sum += v * unit, ++n;
  const double mean = sum / double(n);
  for (const double v : values)
    if (!std::isnan(v)) squares += (v * unit - mean) * (v * unit - mean);
  const double deviation = std::sqrt(squares / double(n - 1)) / unit;
  return {mean / unit, std::max(deviation, std::numeric_limits<double>::denorm_min())};
}

Series make_series(const Table& table, std::span<const std::size_t> columns, const Preparation& p) {
  Series s;
  s.file = table.file;
  s.standardize = p.standardize;
  s.keys = variable_keys(table, columns);
  std::vector<Values> raw;
  for (const std::size_t c : columns) {
    s.names.push_back(table.names[c]);
    s.numbers.push_back(std::int64_t(c));
    s.values.push_back(transformed(table, c, p.transform));
    raw.push_back(table.columns[c]);
  }
  require(!s.values.empty(), "series: no column was chosen");
  const std::vector<char> gap = missing_rows(raw);
  s.missing_rows = std::count(gap.begin(), gap.end(), 1);
  s.trial = table.trial;
  if (!s.trial.empty() && s.values[0].size() < table.rows()) remove_differences_across_trials(s);
  split_into_sets(s);
  if (!s.sets) fail<InvalidArgument>(table.file + ": no row has a value in every chosen column");
  for (std::size_t i = 0; i < s.values.size(); ++i) {
    auto& v = s.values[i];
    if (constexpr double most = 0x1p1021; largest_magnitude(v) > most)
      fail<InvalidArgument>(
          table.file + ": " + column_label(table, columns[i]) +
          " holds numbers beyond 1e307, whose differences may not be finite; divide it by a power of ten");
    const Scaling z = p.standardize == Standardize::series ? scaling_of(v) : Scaling{};
    if (p.standardize == Standardize::series)
      in_vectors(std::int64_t(v.size()), [z, x = v.data()](auto t) { x[t] = (x[t] - z.mean) / z.deviation; });
    s.deviation.push_back(z.deviation);
    std::vector<double> noise(p.noise == 0 ? 0 : v.size());
    if (p.noise != 0) fill_noise(p.seed, s.keys[i], p.noise, noise);
    s.noise.push_back(std::move(noise));
  }
  return s;
}

}  // namespace kolmo
