#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "kolmo/flow/estimate.hpp"
#include "kolmo/flow/warnings.hpp"

namespace kolmo {

/// What a Gaussian estimate was made of: rows, and independent columns of x, y (given z) and z.
struct GaussianSize {
  std::size_t rows, x, y, z;
};

/// Probability of a Gaussian estimate of at least `value` nats if x and y are independent given z. Errors of
/// the linear model are normal and independent from row to row.
///   x or y has one column   F test with d = max(x, y) and m = N - 1 - z - d degrees of freedom; exact
///   otherwise               2 (N - 1 - z - (x + y + 1) / 2) I is chi-square with x y degrees of freedom
/// The factor is Bartlett's; for many rows it is 2 N I. 1 if x or y has no column.
/// Source: Anderson, An Introduction to Multivariate Statistical Analysis, 3rd ed., 8.4 and 8.5.
double analytic_p_value(double value, const GaussianSize& size);

/// The test that analytic_p_value uses: "F" or "chi-square".
std::string_view analytic_test(std::size_t x_columns, std::size_t y_columns);

/// p of the smallest of several p-values, corrected for choosing it: 1 - (1 - p)^n. Conservative for tests
/// that depend on each other, as those of neighbouring lags do.
/// Source: Sidak, J. Am. Stat. Assoc. 62, 626 (1967).
double sidak(std::span<const double> p);

/// `analytic_test`: a column of x and one of y are both autocorrelated, and the p-value of their mutual
/// information is analytic. The variance of a covariance grows by 1 + 2 sum r_x(lag) r_y(lag) (Bartlett
/// 1935), so that p is too small; named above 1.5.
std::vector<Warning> inspect_analytic_test(const Series& series, const EstimationTask& task,
                                           const EstimatorOptions& options);

}  // namespace kolmo
