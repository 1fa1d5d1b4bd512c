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

Autocorrelation of(std::vector<double> x) { return autocorrelation(column_of(series_of({std::move(x)}), 0)); }

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
  const Column c = column_of(series_of({{1, 2, NAN, 3, 4, 5}}, {.standardize = Standardize::none}), 0);
  std::vector<std::pair<double, double>> pairs;
  c.pairs(1, [&](double now, double before) { pairs.emplace_back(now, before); });
  EXPECT_EQ(pairs, (std::vector<std::pair<double, double>>{{2, 1}, {4, 3}, {5, 4}}));
}

}  // namespace
}  // namespace kolmo
