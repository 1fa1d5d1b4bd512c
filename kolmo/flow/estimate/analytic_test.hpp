#pragma once
#include <cstddef>
#include <string_view>

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

}  // namespace kolmo
