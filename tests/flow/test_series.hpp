#pragma once
#include <functional>
#include <string>
#include <vector>

#include "kolmo/flow/data/noise.hpp"
#include "kolmo/flow/data/series.hpp"

namespace kolmo::testing_flow {

/// Independent standard normal numbers, the same everywhere.
inline std::vector<double> normals(std::uint64_t seed, std::int64_t number, std::size_t n) {
  std::vector<double> v(n);
  for (std::size_t t = 0; t < n; ++t) v[t] = element_noise(seed, std::uint64_t(number), std::int64_t(t));
  return v;
}

inline Table table_of(std::vector<std::vector<double>> columns) {
  Table t{"test", {}, std::move(columns), {}, true};
  for (std::size_t c = 0; c < t.columns.size(); ++c) t.names.push_back("x" + std::to_string(c));
  t.faults.resize(t.columns.size());
  return t;
}

inline Series series_of(std::vector<std::vector<double>> columns, const Preparation& preparation = {}) {
  const Table t = table_of(std::move(columns));
  std::vector<std::size_t> all;
  for (std::size_t c = 0; c < t.columns.size(); ++c) all.push_back(c);
  return make_series(t, all, preparation);
}

/// The observation set of each row, of all variables; -1 if a row is in none.
inline std::vector<std::int32_t> sets_of(const Series& series) {
  std::vector<std::int32_t> set(std::size_t(series.rows()), -1);
  std::int32_t number = 0;
  for (const Stretch& s : stretches(series)) {
    for (std::size_t t = s.begin; t < s.end; ++t) set[t] = number;
    ++number;
  }
  return set;
}

}  // namespace kolmo::testing_flow
