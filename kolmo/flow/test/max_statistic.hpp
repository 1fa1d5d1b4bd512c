#pragma once
#include <cstddef>
#include <vector>

#include "kolmo/flow/estimate/estimate.hpp"
#include "kolmo/flow/test/statistics.hpp"

namespace kolmo {

/// The largest of some alternatives, tested against the largest of the same alternatives in every surrogate, which needs no
/// correction for choosing it.
struct MaxStatistic {
  std::vector<double> observed;  ///< of each alternative
  std::size_t largest = 0;       ///< which; of equal ones the first
  double p_value = 1;
  Summary surrogates{};              ///< of the largest of each surrogate
  std::int64_t surrogate_count = 0;  ///< different ones

  double value() const { return observed[largest]; }
};

/// The largest of the alternatives first ... first + count - 1 in each surrogate, whose surrogates must be equally many and made alike.
std::vector<double> largest_of_each(const Estimates& estimates, std::size_t first, std::size_t count);

/// Tests the alternatives first ... first + count - 1, as largest_of_each(). The smallest of analytic p-values is corrected by sidak().
MaxStatistic max_statistic(const Estimates& estimates, std::size_t first, std::size_t count,
                           PValue convention);

}  // namespace kolmo
