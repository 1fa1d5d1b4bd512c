#pragma once
#include <array>
#include <cmath>

namespace kolmo::predict {

using Coefficients = std::array<double, 3>;

/// The normal equations of least squares with at most three unknowns.
class NormalEquations {
 public:
  /// An observation y of the row x, both weighted.
  void add(const Coefficients& x, double y) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j <= i; ++j) a_[i][j] += x[i] * x[j];
      b_[i] += x[i] * y;
    }
  }
  /// The least squares among coefficients that are not negative, of the first `unknowns` columns: the best of all subsets of
  /// columns whose solution is not negative.
  Coefficients non_negative(int unknowns) const {
    Coefficients best{};
    double least = 0;  // of the sum of squares, less that of no columns
    for (unsigned set = 1; set < 1u << unknowns; ++set) {
      Coefficients x{};
      if (!solve(set, b_, x)) continue;
      double gained = 0;
      bool negative = false;
      for (int i = 0; i < 3; ++i) negative |= x[i] < 0, gained -= x[i] * b_[i];
      if (!negative && gained < least) least = gained, best = x;
    }
    return best;
  }
  /// The inverse's diagonal element: the variance of a coefficient for noise of variance 1. Infinite if it is not determined.
  double variance(int i) const {
    Coefficients unit{}, x{};
    unit[std::size_t(i)] = 1;
    return solve(7, unit, x) ? x[std::size_t(i)] : INFINITY;
  }
  /// Returns the precision of a coefficient when all others are fitted: the inverse of its variance, 0 if it is not determined.
  double own(int i) const {
    const double v = variance(i);
    return v > 0 && std::isfinite(v) ? 1 / v : 0;
  }

 private:
  /// Solves for the columns in `set` by Cholesky's decomposition. False if they are not independent.
  bool solve(unsigned set, const Coefficients& b, Coefficients& x) const {
    double l[3][3] = {}, z[3] = {};
    for (int i = 0; i < 3; ++i) {
      if (!(set >> i & 1)) continue;
      for (int j = 0; j <= i; ++j) {
        if (!(set >> j & 1)) continue;
        double s = a_[i][j];
        for (int k = 0; k < j; ++k) s -= l[i][k] * l[j][k];
        if (i != j)
          l[i][j] = s / l[j][j];
        else if (s > 1e-15 * a_[i][i])
          l[i][i] = std::sqrt(s);
        else
          return false;
      }
      z[i] = b[std::size_t(i)];
      for (int k = 0; k < i; ++k) z[i] -= l[i][k] * z[k];
      z[i] /= l[i][i];
    }
    for (int i = 2; i >= 0; --i) {
      if (!(set >> i & 1)) continue;
      x[std::size_t(i)] = z[i];
      for (int k = i + 1; k < 3; ++k) x[std::size_t(i)] -= l[k][i] * x[std::size_t(k)];
      x[std::size_t(i)] /= l[i][i];
    }
    return true;
  }

  double a_[3][3] = {};
  Coefficients b_{};
};

}  // namespace kolmo::predict
