#pragma once
#include <cmath>
#include <cstdint>
#include <string_view>

namespace kolmo::knn {

/// The fewest estimates that make up for building neighbour lists on the CPU, for n rows and dz columns of the condition.
inline double fewest_listed_estimates(std::int64_t n, int dz) {
  return dz ? 4 + double(n) / 2500 : 0.35 * std::sqrt(double(n));
}

/// The most rows for which lists pay off. They and counts look at all that is near in the first column of the condition, which
/// costs the more the more columns there are.
constexpr std::int64_t most_listed_rows(int dz) {
  return dz == 0 ? 50000 : dz == 1 ? 200000 : dz == 2 ? 35000 : 20000;
}

/// What `kolmo info` says of these two and of lanes_fit().
inline constexpr std::string_view cpu_engines =
    "engines on CPU, by rows, columns and estimates; all give the same bits:\n"
    "  shared lists  of neighbours in y and z, for ksg1 and 4 + rows / 2500 or more estimates (observed and "
    "surrogates)\n"
    "                in up to 200000 rows with one column of the condition z, 35000 with two and 20000 with "
    "more;\n"
    "                without z for one column of x, 0.35 sqrt(rows) or more estimates and up to 50000 rows\n"
    "  trees         and sorted columns, one estimate at a time, for all else and for local values";

}  // namespace kolmo::knn
