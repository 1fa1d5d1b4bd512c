#pragma once
#include <cmath>
#include <cstdint>

#include "kolmo/base/hd.hpp"
#include "kolmo/ops/nn/normalize/normalize.hpp"

namespace kolmo {

/// Describes a part of a row: `largest` is its largest magnitude, or NaN if an element is NaN; `sum` is the
/// sum of its elements, of their magnitudes, or of (x / largest)^2, which is 0 if `largest` is 0.
template <class C>
struct Magnitude {
  C largest = 0, sum = 0;
};

template <class C>
KOLMO_HD C larger_or_nan(C a, C b) {
  return a > b || std::isnan(a) ? a : b;
}
/// Joins two parts. `largest` is 0 for sums that do not depend on it; these are added. Otherwise the sums are
/// sums of squares.
template <class C>
KOLMO_HD Magnitude<C> join(const Magnitude<C>& a, const Magnitude<C>& b) {
  const C largest = larger_or_nan(a.largest, b.largest);
  if (largest == 0) return {0, a.sum + b.sum};
  const C of_a = a.largest / largest, of_b = b.largest / largest;
  return {largest, a.sum * (of_a * of_a) + b.sum * (of_b * of_b)};
}
template <class C>
KOLMO_HD C norm_of(RowNorm norm, const Magnitude<C>& row) {
  if (norm == RowNorm::max || (norm == RowNorm::l2 && row.largest == 0)) return row.largest;
  return norm == RowNorm::l2 ? row.largest * std::sqrt(row.sum) : row.sum;
}
/// Functions in CPU vectors of double. They are compiled once per instruction set, and chosen at run time.
template <class C>
struct NormalizeFunctions {
  Magnitude<double> (*measure)(RowNorm norm, const C* x, std::int64_t n);
  /// Computes y_i = x_i / norm, with 0 / 0 = 0; y may be x.
  void (*divide)(const C* x, std::int64_t n, double norm, C* y);
};
template <class C>
NormalizeFunctions<C> normalize_functions();

}  // namespace kolmo
