#pragma once
#include <span>
#include <vector>

namespace kolmo::tune {

/// A ratio of two times with its 95 % interval. The interval is [0, infinity] if there are too few pairs.
struct Ratio {
  double median = 1, lower = 0, upper = 0;
  int pairs = 0;
};

/// The quantile q in [0, 1] by linear interpolation; NaN when there are no values.
double quantile(std::vector<double> values, double q);
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

/// The median of slow[i] / fast[i] over the rounds i in which both were measured (NaN marks the others).
/// Pairing cancels effects that slow down a whole round. The interval is that of the sign test, which assumes
/// nothing about the distribution (Conover, Practical Nonparametric Statistics, 3.2); it needs at least 6
/// pairs.
Ratio paired_ratio(std::span<const double> slow, std::span<const double> fast);

/// The same interval, around the median of those values that are not NaN.
Ratio median_interval(std::span<const double> values);

}  // namespace kolmo::tune
