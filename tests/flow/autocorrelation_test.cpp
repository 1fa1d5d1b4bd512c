#include "kolmo/flow/data/autocorrelation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/flow/test_series.hpp"

namespace kolmo {
namespace {

using testing_flow::normals;
using testing_flow::series_of;

/// x(t) = a x(t - 1) + uniform noise of a linear congruential generator, so that any language can make it again.
std::vector<double> autoregressive(double a, int n) {
  std::vector<double> x;
  std::uint32_t state = 1;
  for (int t = 0; t < n; ++t) {
    state = (1103515245u * state + 12345u) & 0x7fffffffu;
    x.push_back((t ? a * x.back() : 0) + state / 2147483648.0 - 0.5);
  }
  return x;
}

Autocorrelation of(std::vector<double> x) {
  const Series series = series_of({std::move(x)});
  return autocorrelation(column_of(series, 0));
}

// Values that the package arch 8.0.0 gives (optimal_block_length, circular), computed for this project. Its
// bandwidth is two lags longer than in the rule that both cite, and it divides each correlation by the number
// of pairs.
TEST(BlockLength, IsNearThatOfArch) {
  const struct {
    double a;
    int n;
    double arch;
  } cases[] = {
      {0, 500, 2.21770003}, {0.5, 500, 9.79664261}, {0.9, 1000, 50.86044672}, {-0.5, 300, 5.8673914}};
  for (const auto& c : cases) {
    const std::vector<double> x = autoregressive(c.a, c.n);
    EXPECT_NEAR(double(of(x).block_length), std::ceil(c.arch), 0.1 * c.arch + 1) << c.a;
  }
}

TEST(AutocorrelationLength, EndsWhereCorrelationsAreNoise) {
  EXPECT_EQ(of(normals(1, 0, 1000)).length, 0);
  // 0.9^lag is below 2 sqrt(3 / 1000) = 0.11 from lag 21 on; estimates of r are 0.1 off at such lags.
  const std::int64_t length = of(autoregressive(0.9, 1000)).length;
  EXPECT_GT(length, 10);
  EXPECT_LT(length, 60);
  // A sine never decays, so that the length is half of the rows.
  std::vector<double> sine;
  for (int t = 0; t < 200; ++t) sine.push_back(std::sin(0.5 * t));
  EXPECT_GT(of(sine).length, 80);
}

// The deviations of 1, 2, 3, 4 from their mean give r(1) = (-1.5 * -0.5 - 0.25 + 0.75) / 5 = 0.25, which is
// below 2 sqrt(log10(4) / 4).
TEST(AutocorrelationLength, OfFourRowsByHand) {
  const Autocorrelation a = of({1, 2, 3, 4});
  EXPECT_EQ(a.length, 0);
  EXPECT_EQ(a.inflation, 1);
}

TEST(AutocorrelationLength, OfAConstantOrThreeRowsIsNone) {
  for (const auto& x : {std::vector<double>(100, 2.0), std::vector<double>{1, 2, 3}}) {
    EXPECT_EQ(of(x).length, 0);
    EXPECT_EQ(of(x).block_length, 1);
  }
}

TEST(Column, PairsLieInOneSet) {
  const Series series = series_of({{1, 2, NAN, 3, 4, 5}}, {.standardize = Standardize::none});
  const Column c = column_of(series, 0);
  EXPECT_EQ(c.size(), 5u);
  EXPECT_EQ(c.pairs(1), 3u);
  EXPECT_EQ(c.pairs(2), 1u);
  EXPECT_EQ(c.pairs(3), 0u);
  EXPECT_EQ(c.gathered(), (std::vector<double>{1, 2, 3, 4, 5}));
  Autocovariances covariance(c);  // of -2 -1 | 0 1 2, whose variance is 2.5
  EXPECT_DOUBLE_EQ(covariance.at(0), 10 / 2.5 / 5);
  EXPECT_DOUBLE_EQ(covariance.at(1), (2 + 0 + 2) / 2.5 / 5);
  EXPECT_DOUBLE_EQ(covariance.at(2), 0);
  EXPECT_EQ(covariance.at(100), 0);
}

/// The sum over pairs within one set, in the order of the rows.
double by_definition(const Column& c, const Scaling& z, std::size_t lag) {
  long double sum = 0;
  for (const Stretch& s : c.sets)
    for (std::size_t t = s.begin + lag; t < s.end; ++t)
      sum += (long double)(c.values[t] - z.mean) * (c.values[t - lag] - z.mean);
  return double(sum / z.deviation / z.deviation / (long double)c.size());
}

// Lags below 128 are products, those below 2048 and 32768 transforms.
TEST(Autocovariances, AreSumsOfProductsAtEveryLag) {
  std::vector<double> x = autoregressive(0.999, 9000);
  for (const std::size_t gap : {10, 11, 40, 300, 3300, 3302}) x[gap] = NAN;
  for (double& v : x) v = 1e6 + 1e-3 * v;
  const Series series = series_of({x});
  const Column c = column_of(series, 0);
  ASSERT_EQ(c.sets.size(), 6u);
  const Scaling z = scaling_of(c.values);
  Autocovariances covariance(c);
  EXPECT_NEAR(covariance.at(0), 1, 1e-3);
  double largest = 0;
  for (std::size_t lag = 0; lag < 9000; lag += lag < 2100 ? 1 : 97)
    largest = std::max(largest, std::abs(covariance.at(lag) - by_definition(c, z, lag)));
  EXPECT_LT(largest, 1e-13);
  EXPECT_GT(std::abs(by_definition(c, z, 2048)), 1e-3) << "there is something to see";
}

TEST(Autocorrelation, HasNoUnits) {
  const std::vector<double> x = autoregressive(0.9, 1000);
  const Autocorrelation plain = of(x);
  for (const double unit : {1e160, 1e-162, 1e300, 1e-300, -3.0}) {
    std::vector<double> scaled = x;
    for (double& v : scaled) v *= unit;
    const Autocorrelation a = of(scaled);
    EXPECT_EQ(a.length, plain.length) << unit;
    EXPECT_EQ(a.block_length, plain.block_length) << unit;
    EXPECT_NEAR(a.inflation, plain.inflation, 1e-9) << unit;
  }
}

}  // namespace
}  // namespace kolmo
