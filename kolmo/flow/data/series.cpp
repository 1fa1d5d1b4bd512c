#include "kolmo/flow/data/series.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

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
      fail<InvalidArgument>(table.file + ": row " + std::to_string(table.row_of_file(t)) + ", " +
                            column_label(table, column) + ": the logarithm needs numbers above 0");
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

/// Row t of a differenced series is row t + 1 of the table less row t. It has no value if these do not follow each other.
void remove_differences_across_gaps(Series& s) {
  const std::size_t rows = s.values[0].size();
  for (std::size_t t = 0; t < rows; ++t)
    if (s.begins(t + 1))
      for (auto& v : s.values) v[t] = missing;
  const auto drop_first = [](auto& of_rows) {
    if (!of_rows.empty()) of_rows.erase(of_rows.begin());
  };
  drop_first(s.trial), drop_first(s.steps), drop_first(s.where);
}

std::int64_t count_missing_rows(const Table& table, std::span<const std::size_t> columns) {
  std::vector<bool> rows;
  for (const std::size_t c : columns) {
    const auto& v = table.columns[c];
    if (std::none_of(v.begin(), v.end(), [](double x) { return std::isnan(x); })) continue;
    rows.resize(v.size());
    for (std::size_t t = 0; t < v.size(); ++t)
      if (std::isnan(v[t])) rows[t] = true;
  }
  return std::count(rows.begin(), rows.end(), true);
}

std::vector<std::int32_t> all_variables(const Series& s) {
  std::vector<std::int32_t> all(s.values.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
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

void find_absences(Series& s) {
  std::map<std::vector<bool>, std::int32_t> known;
  s.absence.clear();
  for (const auto& v : s.values) {
    if (std::none_of(v.begin(), v.end(), [](double x) { return std::isnan(x); })) {
      s.absence.push_back(0);
      continue;
    }
    std::vector<bool> absent(v.size());
    std::transform(v.begin(), v.end(), absent.begin(), [](double x) { return std::isnan(x); });
    s.absence.push_back(known.emplace(std::move(absent), std::int32_t(known.size()) + 1).first->second);
  }
}

std::vector<Stretch> stretches(const Series& s, std::span<const std::int32_t> variables) {
  std::map<std::int32_t, std::span<const double>> columns;  // one for each absence
  for (const std::int32_t v : variables)
    if (const std::int32_t a = s.absence[std::size_t(v)]) columns.emplace(a, s.values[std::size_t(v)]);
  const auto rows = std::size_t(s.rows());
  if (columns.empty() && s.trial.empty() && s.steps.empty()) return {{0, rows}};
  std::vector<Stretch> all;
  bool open = false;
  for (std::size_t t = 0; t < rows; ++t) {
    const bool whole = std::none_of(columns.begin(), columns.end(),
                                    [&](const auto& column) { return std::isnan(column.second[t]); });
    if (whole && (!open || s.begins(t))) all.push_back({t, t});
    if (whole) all.back().end = t + 1;
    open = whole;
  }
  return all;
}

std::vector<Stretch> stretches(const Series& series) { return stretches(series, all_variables(series)); }

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
  for (const std::size_t c : columns) {
    s.names.push_back(table.names[c]);
    s.numbers.push_back(std::int64_t(c));
    s.values.push_back(transformed(table, c, p.transform));
  }
  require(!s.values.empty(), "series: no column was chosen");
  s.missing_rows = count_missing_rows(table, columns);
  s.length = std::int64_t(s.values[0].size());
  s.trial = table.trial, s.steps = table.steps, s.where = table.where;
  if (s.values[0].size() < table.rows()) remove_differences_across_gaps(s);
  find_absences(s);
  s.sets = std::int32_t(stretches(s).size());
  for (std::size_t i = 0; i < s.values.size(); ++i) {
    auto& v = s.values[i];
    if (std::all_of(v.begin(), v.end(), [](double x) { return std::isnan(x); }))
      fail<InvalidArgument>(table.file + ": " + column_label(table, columns[i]) + ": no row has a value");
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
