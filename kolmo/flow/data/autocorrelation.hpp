#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kolmo/flow/data/series.hpp"

namespace kolmo {

/// The values of a variable that lie in a set. The series must outlive it.
struct Column {
  std::span<const double> values;  ///< [row] of the series
  std::vector<Stretch> sets;
  std::size_t rows = 0;  ///< in sets

  std::size_t size() const { return rows; }
  /// How many pairs of rows `lag` apart lie in one set.
  std::size_t pairs(std::size_t lag) const;
  /// The values in sets, one set after another.
  std::vector<double> gathered() const;
};

Column column_of(const Series& series, std::size_t variable);

/// Autocovariances of a column divided by its variance: at(0) is about 1, or 0 of a constant. Computed as far as they are
/// asked for: 128 lags as sums of products, further ones by Fourier transforms.
class Autocovariances {
 public:
  explicit Autocovariances(const Column& column);

  /// The sum over the pairs of rows of one set that are `lag` apart, divided by the number of all rows.
  double at(std::size_t lag) {
    while (found_.size() <= lag) extend();
    return found_[lag];
  }

 private:
  void extend();
  void add_products(std::size_t lags);
  void add_transforms(std::size_t lags);

  std::vector<Stretch> sets_;     // of standard_
  std::vector<double> standard_;  // the values at mean 0 and variance 1, with zeros before each set
  std::vector<double> found_;     // [lag]
  std::size_t rows_, longest_ = 0;
};

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
