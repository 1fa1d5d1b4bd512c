#include "kolmo/flow/data/series.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kolmo/base/error.hpp"
#include "kolmo/base/log.hpp"
#include "kolmo/base/philox.hpp"
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

std::vector<double> transformed(const Table& table, std::size_t column, Transform transform) {
  std::vector<double> v = table.columns[column];
  if (transform == Transform::log || transform == Transform::log_difference)
    take_logarithms(table, column, v);
  if (transform == Transform::difference || transform == Transform::log_difference) {
    for (std::size_t t = 0; t + 1 < v.size(); ++t) v[t] = v[t + 1] - v[t];
    if (!v.empty()) v.pop_back();
  }
  return v;
}

bool any_missing(const std::vector<std::vector<double>>& values, std::size_t row) {
  return std::any_of(values.begin(), values.end(), [&](const auto& v) { return std::isnan(v[row]); });
}

void split_into_sets(Series& s) {
  bool open = false;
  for (std::size_t t = 0; t < s.values[0].size(); ++t) {
    const bool whole = !any_missing(s.values, t);
    const bool first = t == 0 || (!s.trial.empty() && s.trial[t] != s.trial[t - 1]);
    s.sets += whole && (!open || first);
    open = whole;
    s.set.push_back(whole ? s.sets - 1 : -1);
  }
  for (auto& v : s.values)
    for (std::size_t t = 0; t < v.size(); ++t)
      if (s.set[t] < 0) v[t] = missing;
}

/// Row t of a differenced series is row t + 1 of the table less row t.
void remove_differences_across_trials(Series& s) {
  for (std::size_t t = 0; t + 1 < s.trial.size(); ++t)
    if (s.trial[t] != s.trial[t + 1])
      for (auto& v : s.values) v[t] = missing;
  s.trial.erase(s.trial.begin());
}

bool constant(std::span<const double> values) {
  double first = missing;
  for (const double v : values) {
    if (std::isnan(first)) first = v;
    if (!std::isnan(v) && v != first) return false;
  }
  return true;
}

}  // namespace

// The high counter word of surrogates has bit 63 clear, so surrogates and noise never share random numbers.
double element_noise(std::uint64_t seed, std::uint64_t key, std::int64_t row) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    const auto r = Philox(seed)(std::uint64_t(row) | attempt << 48, key | std::uint64_t(1) << 63);
    const double u = 2 * uniform53(r.w[0], r.w[1]) - 1, v = 2 * uniform53(r.w[2], r.w[3]) - 1;
    const double square = u * u + v * v;
    if (square < 1 && square > 0) return u * std::sqrt(-2 * log_exact(square) / square);
  }
}

Scaling scaling_of(std::span<const double> values) {
  double sum = 0, squares = 0;
  std::int64_t n = 0;
  for (const double v : values)
    if (!std::isnan(v)) sum += v, ++n;
  const double mean = n ? sum / double(n) : 0;
  if (constant(values)) {
    for (const double v : values)
      if (!std::isnan(v)) return {v, 1};
    return {};
  }
  for (const double v : values)
    if (!std::isnan(v)) squares += (v - mean) * (v - mean);
  return {mean, std::sqrt(squares / double(n - 1))};
}

std::vector<std::string> constant_variables(const Series& series) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < series.values.size(); ++i)
    if (constant(series.values[i])) names.push_back(series.names[i]);
  return names;
}

Series make_series(const Table& table, std::span<const std::size_t> columns, const Preparation& p) {
  Series s;
  s.file = table.file;
  s.standardize = p.standardize;
  s.keys = variable_keys(table, columns);
  std::vector<std::vector<double>> raw;
  for (const std::size_t c : columns) {
    s.names.push_back(table.names[c]);
    s.numbers.push_back(std::int64_t(c));
    s.values.push_back(transformed(table, c, p.transform));
    raw.push_back(table.columns[c]);
  }
  require(!s.values.empty(), "series: no column was chosen");
  for (std::size_t t = 0; t < table.rows(); ++t) s.missing_rows += any_missing(raw, t);
  s.trial = table.trial;
  if (!s.trial.empty() && s.values[0].size() < table.rows()) remove_differences_across_trials(s);
  split_into_sets(s);
  if (!s.sets) fail<InvalidArgument>(table.file + ": no row has a value in every chosen column");
  for (std::size_t i = 0; i < s.values.size(); ++i) {
    auto& v = s.values[i];
    if (p.noise == 0 && constant(v))
      fail<InvalidArgument>(table.file + ": " + column_label(table, columns[i]) +
                            " is constant, and without noise nearest neighbours are not defined");
    const Scaling z = p.standardize == Standardize::series ? scaling_of(v) : Scaling{};
    for (double& x : v) x = (x - z.mean) / z.deviation;
    s.deviation.push_back(z.deviation);
    std::vector<double> noise(v.size(), 0);
    if (p.noise != 0)
      for (std::size_t t = 0; t < v.size(); ++t)
        noise[t] = p.noise * element_noise(p.seed, s.keys[i], std::int64_t(t));
    s.noise.push_back(std::move(noise));
  }
  return s;
}

}  // namespace kolmo
