#include "kolmo/flow/data/ordinal.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/base/error.hpp"
#include "kolmo/flow/data/embedding.hpp"

namespace kolmo {
namespace {

/// The Lehmer code of the ranks of `order` values, which ends at the newest, `now`. Of two equal values the
/// older one has the lower rank.
std::int64_t pattern_at(const double* now, std::int64_t order, std::int64_t delay) {
  std::int64_t code = 0;
  for (std::int64_t i = order - 1; i >= 0; --i) {
    std::int64_t smaller = 0;
    for (std::int64_t j = i - 1; j >= 0; --j) smaller += now[-j * delay] < now[-i * delay];
    code = code * (i + 1) + smaller;
  }
  return code;
}

}  // namespace

Series ordinal_patterns(const Series& series, std::int64_t order, std::int64_t delay) {
  require(order >= 2 && order <= 8, "ordinal patterns: the order must be 2 to 8");
  require(delay >= 1, "ordinal patterns: the delay must be 1 or above");
  const std::int64_t reach = (order - 1) * delay;
  Series s = series, from = series;
  from.where
      .clear();  // the patterns of all rows are needed: the past of the present may not count as the present
  for (std::int32_t v = 0; v < std::int32_t(s.values.size()); ++v) {
    auto& patterns = s.values[std::size_t(v)];
    std::fill(patterns.begin(), patterns.end(), std::nan(""));
    const std::vector<std::int64_t> times = embeddable(from, {&v, 1}, reach);
    if (times.empty())
      fail<InvalidArgument>(series.file + ": column '" + series.names[std::size_t(v)] + "' has no " +
                            std::to_string(reach + 1) +
                            " rows without a missing value, which ordinal patterns of order " +
                            std::to_string(order) + " and delay " + std::to_string(delay) + " need");
    for (const std::int64_t t : times)
      patterns[std::size_t(t)] = double(pattern_at(series.values[std::size_t(v)].data() + t, order, delay));
  }
  find_absences(s);
  s.sets = std::int32_t(stretches(s).size());
  return s;
}

}  // namespace kolmo
