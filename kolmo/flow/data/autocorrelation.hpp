#pragma once
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kolmo/flow/data/series.hpp"

namespace kolmo {

/// The values of a variable that lie in a set, set after set; `begin` says which start one.
struct Column {
  std::vector<double> values;
  std::vector<bool> begin;

  std::size_t size() const { return values.size(); }
  /// Calls f(value, the one `lag` rows before) for every such pair within a set; until f returns false, if it is a bool.
  template <class F>
  void pairs(std::size_t lag, F f) const {
    std::size_t since = 0;
    for (std::size_t t = 0; t < size(); ++t) {
      since = begin[t] ? 0 : since + 1;
      if (since < lag) continue;
      if constexpr (std::is_same_v<decltype(f(0.0, 0.0)), bool>) {
        if (!f(values[t], values[t - lag])) return;
      } else {
        f(values[t], values[t - lag]);
      }
    }
  }
};

Column column_of(const Series& series, std::size_t variable);

/// How far apart the values of a column must be to be nearly independent. r(lag) is the autocorrelation.
struct Autocorrelation {
  /// The smallest m such that |r| < 2 sqrt(log10(n) / n) at the lags m + 1 ... m + 5, at most n / 2. Source: Politis,
  /// J. Nonparametr. Stat. 15, 467 (2003).
  std::int64_t length = 0;
  /// The best length of a block for the circular block bootstrap of the mean, at most min(3 sqrt(n), n / 3).
  /// Sources: Politis, White, Econom. Rev. 23, 53 (2004); corrected by Patton et al., Econom. Rev. 28, 372 (2009).
  std::int64_t block_length = 1;
  /// 1 + 2 sum of r(lag)^2 over lags up to `length`, by which the variance of the covariance of two such columns
  /// grows. Source: Bartlett, J. R. Stat. Soc. Suppl. 8, 27 (1946).
  double inflation = 1;
};

Autocorrelation autocorrelation(const Column& column);

}  // namespace kolmo
