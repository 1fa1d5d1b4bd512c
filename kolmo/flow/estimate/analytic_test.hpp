#pragma once
#include <cstddef>
#include <string_view>

namespace kolmo {

/// The size of a Gaussian estimate: its number of rows, and of independent columns of x, y (given z) and z.
struct GaussianSize {
  std::size_t rows, x, y, z;
};

/// Probability of a Gaussian estimate of at least `value` nats if x and y are independent given z, and errors
/// of the linear model are normal and independent from row to row.
///   x or y has one column   F test with d = max(x, y) and m = N - 1 - z - d degrees of freedom; exact
///   otherwise               2 (N - 1 - z - (x + y + 1) / 2) I is chi-square with x y degrees of freedom
/// The factor of I is Bartlett's; for many rows it tends to 2 N. The probability is 1 if x or y has no
/// column.
/// Source: Anderson, An Introduction to Multivariate Statistical Analysis, 3rd ed., 8.4 and 8.5.
double analytic_p_value(double value, const GaussianSize& size);

/// The test that analytic_p_value uses: "F" or "chi-square".
std::string_view analytic_test(std::size_t x_columns, std::size_t y_columns);

}  // namespace kolmo
