#include "kolmo/flow/data/fill_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "kolmo/knn/sort.hpp"

namespace kolmo {
namespace {

/// Whether the absolute value is 99, 999, ... 999999.
bool is_nines(double value) {
  for (double nines = 99; nines < 1e6; nines = 10 * nines + 9)
    if (std::abs(value) == nines) return true;
  return false;
}

bool may_fill(const FillValue& v) { return v.value != 0 && (v.rows > 1 || is_nines(v.value)); }

/// The value before all others, and its rows.
template <class Before>
FillValue at_end(std::span<const double> column, Before before) {
  FillValue end{NAN, 0};
  for (const double v : column) {
    if (before(v, end.value) || (end.rows == 0 && !std::isnan(v))) end = {v, 0};
    end.rows += v == end.value;
  }
  return end;
}

}  // namespace

std::vector<FillValue> fill_values(std::span<const double> column) {
  constexpr std::size_t most = 3, others = 2, few = 10;  // different values: at an end, left at least, few
  if (!may_fill(at_end(column, std::less<>())) && !may_fill(at_end(column, std::greater<>()))) return {};
  std::vector<double> sorted;
  for (const double v : column)
    if (!std::isnan(v)) sorted.push_back(v);
  knn::sort(sorted.data(), sorted.size());
  std::vector<FillValue> different;
  for (const double v : sorted) {
    if (different.empty() || v != different.back().value)
      different.push_back({v, 1});
    else
      ++different.back().rows;
  }
  std::size_t low = 0, high = 0;  // values that may fill, at both ends
  while (low < most && low < different.size() && may_fill(different[low])) ++low;
  while (high < most && high < different.size() && may_fill(different[different.size() - 1 - high])) ++high;
  std::pair<std::size_t, std::size_t> best{0, 0};
  for (std::size_t l = 0; l <= low; ++l)
    for (std::size_t h = 0; h <= high && l + h + others <= different.size(); ++h) {
      const double first = different[l].value, last = different[different.size() - 1 - h].value;
      const double far = (different.size() - l - h < few ? 50 : 1) * (last - first);
      const bool below = l == 0 || first - different[l - 1].value > far,
                 above = h == 0 || different[different.size() - h].value - last > far;
      if (below && above && l + h > best.first + best.second) best = {l, h};
    }
  std::vector<FillValue> found(different.begin(), different.begin() + std::ptrdiff_t(best.first));
  found.insert(found.end(), different.end() - std::ptrdiff_t(best.second), different.end());
  return found;
}

std::vector<Warning> inspect(const Table& table, std::span<const std::size_t> columns) {
  SharedWarnings found;
  for (const std::size_t c : columns) {
    std::string text;
    for (const FillValue& v : fill_values(table.columns[c]))
      text +=
          fmt::format("{}{} in {} row{}", text.empty() ? "" : ", ", v.value, v.rows, v.rows == 1 ? "" : "s");
    if (!text.empty()) found.add("sentinel", fmt::format("{} ({})", table.names[c], text));
  }
  std::vector<Warning> all;
  found.tell("sentinel", "may stand for a missing value; if it does, name it in --na", all);
  return all;
}

}  // namespace kolmo
