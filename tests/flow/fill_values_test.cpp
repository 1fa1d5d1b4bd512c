#include "kolmo/flow/data/fill_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace kolmo {
namespace {

using Values = std::vector<double>;

/// Bell-shaped values without a repetition, within 5 of 0.
Values smooth(std::size_t rows) {
  Values x;
  for (std::size_t t = 0; t < rows; ++t)
    x.push_back(4 * std::sin(double(t)) * std::sin(0.37 * double(t)) + 1e-6 * double(t));
  return x;
}

Values found(const Values& column) {
  Values values;
  for (const FillValue& v : fill_values(column)) values.push_back(v.value);
  return values;
}

TEST(FillValues, AreFarFromTheRestAndRepeatExactly) {
  for (const double fill :
       {1e20, 9.96921e36, -32768.0, 9999.9, -99.9, -8888.0, 9999999.0, -9999.0, 1e-300 + 1e30, 32767.0}) {
    Values x = smooth(300);
    x[7] = x[90] = x[91] = fill;
    EXPECT_EQ(found(x), Values{fill});
    EXPECT_EQ(fill_values(x)[0].rows, 3u);
    for (std::size_t t = 0; t < 150; ++t) x[2 * t] = fill;  // half of the rows
    EXPECT_EQ(found(x), Values{fill});
  }
}

TEST(FillValues, OfSeveralKindsAreAllFound) {
  Values x = smooth(300);
  x[1] = x[2] = -9999, x[3] = x[4] = -8888, x[5] = x[6] = 1e20, x[8] = NAN;
  EXPECT_EQ(found(x), (Values{-9999, -8888, 1e20}));
  x[5] = x[6] = 9999;
  EXPECT_EQ(found(x), (Values{-9999, -8888, 9999}));
}

TEST(FillValues, NinesNeedNoRepetition) {
  Values x = smooth(300);
  x[9] = -999;
  EXPECT_EQ(found(x), Values{-999});
  x[9] = -998;
  EXPECT_EQ(found(x), Values{}) << "an outlier";
}

TEST(FillValues, AreNotAmongMeasuredValues) {
  EXPECT_EQ(found(smooth(300)), Values{});
  EXPECT_EQ(found({}), Values{});
  EXPECT_EQ(found(Values(50, 3.0)), Values{});
  EXPECT_EQ(found({NAN, NAN}), Values{});
  EXPECT_EQ(found({0, 1, 0, 1, 1}), Values{});
  EXPECT_EQ(found({1, 2, 3, -9999, -9999, 3, 2, 1}), Values{-9999});
  EXPECT_EQ(found({1, 2, 3, 9, 9, 3, 2, 1, 9}), Values{}) << "symbols";
  Values counts, pump;
  for (int t = 0; t < 500; ++t) {
    counts.push_back(
        std::floor(3 / (1.02 - std::abs(std::sin(double(t))))));  // many small ones, few large ones
    pump.push_back(t % 5 ? 1000 + smooth(500)[std::size_t(t)] : 0);
  }
  EXPECT_EQ(found(counts), Values{});
  EXPECT_EQ(found(pump), Values{}) << "it stands still";
}

TEST(FillValues, AreToldAsTheyStandInTheTable) {
  Table table{.file = "f.csv", .names = {"a", "b", "c"}};
  table.columns = {smooth(300), smooth(300), smooth(300)};
  table.columns[0][3] = table.columns[0][4] = -32768, table.columns[2][5] = -999;
  const std::size_t all[] = {0, 1, 2}, one[] = {1};
  const auto warnings = inspect(table, all);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].name, "sentinel");
  EXPECT_THAT(warnings[0].text,
              testing::HasSubstr("a (-32768 in 2 rows), c (-999 in 1 row): may stand for a missing value"));
  EXPECT_TRUE(inspect(table, one).empty());
}

}  // namespace
}  // namespace kolmo
