#include "kolmo/flow/test/max_statistic.hpp"

#include <algorithm>
#include <limits>

namespace kolmo {

std::vector<double> largest_of_each(const Estimates& e, std::size_t first, std::size_t count) {
  std::vector<double> largest(std::size_t(e.different[first]), -std::numeric_limits<double>::infinity());
  for (std::size_t a = first; a < first + count; ++a) {
    const auto surrogate = e.surrogate(a);
    for (std::size_t s = 0; s < largest.size(); ++s) largest[s] = std::max(largest[s], surrogate[s]);
  }
  return largest;
}

MaxStatistic max_statistic(const Estimates& e, std::size_t first, std::size_t count, PValue convention) {
  MaxStatistic m;
  m.surrogate_count = e.different[first];
  for (std::size_t a = first; a < first + count; ++a) m.observed.push_back(e.observed(a));
  m.largest = std::size_t(std::max_element(m.observed.begin(), m.observed.end()) - m.observed.begin());
  const std::vector<double> largest = largest_of_each(e, first, count);
  m.p_value = e.p_values.empty() ? p_value(m.value(), largest, convention)
                                 : sidak(std::span(e.p_values).subspan(first, count));
  m.surrogates = summarize(largest);
  return m;
}

}  // namespace kolmo
