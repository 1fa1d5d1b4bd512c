#include "kolmo/base/normal.hpp"

#include <gtest/gtest.h>

#include <boost/math/special_functions/erf.hpp>
#include <cmath>

namespace kolmo {
namespace {

long double exact_quantile(long double tail) { return std::sqrt(2.0L) * boost::math::erfc_inv(2 * tail); }

/// Largest relative error over tails from 2^-lowest to 1/2, in steps of 2^(1/steps), and near the centre.
template <class T>
double largest_error(int lowest, int steps) {
  double largest = 0;
  const auto check = [&](T center, T tail, long double want) {
    largest = std::max(largest, double(std::abs(normal_quantile(center, tail) / want - 1)));
  };
  for (int i = -lowest * steps; i < -2 * steps; ++i) {
    const T tail = T(std::exp2(double(i) / steps));
    check(T(0.5L - static_cast<long double>(tail)), tail, exact_quantile(tail));
  }
  for (int i = -30 * steps; i < -2 * steps; ++i) {
    const T center = T(std::exp2(double(i) / steps));
    // erf_inv keeps its digits near the centre.
    check(center, T(0.5L - static_cast<long double>(center)),
          std::sqrt(2.0L) * boost::math::erf_inv(2 * static_cast<long double>(center)));
  }
  return largest;
}

TEST(NormalQuantile, KeepsItsErrorInDouble) { EXPECT_LT(largest_error<double>(53, 97), 1e-15); }
TEST(NormalQuantile, KeepsItsErrorInFloat) { EXPECT_LT(largest_error<float>(33, 97), 1e-6); }

TEST(NormalQuantile, KnownValues) {
  EXPECT_NEAR(normal_quantile(0.475, 0.025), 1.959963984540054, 2e-15);
  EXPECT_NEAR(normal_quantile(0.25, 0.25), 0.6744897501960817, 1e-15);
  EXPECT_NEAR(normal_quantile(0.475f, 0.025f), 1.9599640f, 2e-6);
}

}  // namespace
}  // namespace kolmo
