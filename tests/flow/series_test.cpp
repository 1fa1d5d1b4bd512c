#include "kolmo/flow/data/series.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "kolmo/base/error.hpp"
#include "kolmo/flow/data/embedding.hpp"
#include "kolmo/flow/data/noise.hpp"
#include "tests/flow/test_series.hpp"

namespace kolmo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const double missing = std::nan("");

Table table(std::vector<std::vector<double>> columns) {
  Table t{"data.csv", {}, std::move(columns), {}, true};
  for (std::size_t c = 0; c < t.columns.size(); ++c) t.names.push_back("c" + std::to_string(c));
  t.faults.resize(t.columns.size());
  return t;
}

Series plain(const Table& t, Transform transform = Transform::none,
             Standardize standardize = Standardize::none) {
  std::vector<std::size_t> all;
  for (std::size_t c = 0; c < t.columns.size(); ++c) all.push_back(c);
  Preparation p;
  p.transform = transform, p.standardize = standardize, p.noise = 0;
  return make_series(t, all, p);
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(Series, Transforms) {
  const Table t = table({{1, 2, 8, 4}});
  EXPECT_THAT(plain(t, Transform::difference).values[0], ElementsAre(1, 6, -4));
  EXPECT_THAT(plain(t, Transform::log).values[0], ElementsAre(0, std::log(2), std::log(8), std::log(4)));
  EXPECT_THAT(plain(t, Transform::log_difference).values[0],
              ElementsAre(std::log(2) - 0, std::log(8) - std::log(2), std::log(4) - std::log(8)));
}

TEST(Series, LogarithmOfZeroIsRefused) {
  EXPECT_THAT(message_of([] {
                plain(table({{1, 2}, {3, 0}}), Transform::log);
              }),
              testing::AllOf(HasSubstr("data.csv"), HasSubstr("row 1"), HasSubstr("c1")));
}

TEST(Series, MissingValuesSplitIntoSets) {
  const Series s = plain(table({{1, 2, missing, 4, 5, 6, 7}, {1, 3, 2, 4, missing, missing, 8}}));
  EXPECT_THAT(testing_flow::sets_of(s), ElementsAre(0, 0, -1, 1, -1, -1, 2));
  EXPECT_EQ(s.sets, 3);
  EXPECT_EQ(s.missing_rows, 3);
  EXPECT_EQ(s.values[1][2], 2) << "another variable's missing value is not its own";
  EXPECT_THAT(embeddable(s, 0), ElementsAre(0, 1, 3, 6));
  EXPECT_THAT(embeddable(s, 1), ElementsAre(1)) << "no embedding crosses a gap";
}

TEST(Series, ADifferenceAcrossAGapIsMissing) {
  const Series s = plain(table({{1, 2, missing, 4, 6}}), Transform::difference);
  EXPECT_THAT(testing_flow::sets_of(s), ElementsAre(0, -1, -1, 1));
  EXPECT_EQ(s.missing_rows, 1) << "of the table";
}

TEST(Series, NothingLeft) {
  EXPECT_THAT(message_of([] {
                plain(table({{1, 1}, {missing, missing}}));
              }),
              HasSubstr("c1: no row has a value"));
}

TEST(Series, ConstantColumn) {
  const Series s = plain(table({{1, missing, 1}, {1, 2, 3}}));
  EXPECT_TRUE(is_constant(s.values[0]));
  EXPECT_TRUE(are_constant(s, {{0, 0}, {0, 1}}));
  EXPECT_FALSE(are_constant(s, {{0, 0}, {1, 0}}));
}

TEST(Series, StepsOfACounterAreEqual) {
  std::vector<double> tenths, measured;
  for (int t = 1; t < 3000; ++t) tenths.push_back(0.1 * t), measured.push_back(0.1 * t + (t % 7) * 1e-9);
  tenths[1000] = missing;
  const Series s = plain(table({tenths, measured}), Transform::difference);
  EXPECT_TRUE(is_constant(s.values[0])) << "but for rounding";
  EXPECT_FALSE(is_constant(s.values[1]));
  EXPECT_DOUBLE_EQ(s.values[0][0], 0.1);
}

TEST(Series, NumbersNearTheLargestAreRefused) {
  EXPECT_THAT(message_of([] {
                plain(table({{1, 2}, {1.7e308, -1.7e308}}));
              }),
              testing::AllOf(HasSubstr("data.csv"), HasSubstr("c1"), HasSubstr("divide it")));
  EXPECT_THAT(message_of([] {
                plain(table({{1.7e308, -1.7e308, 1}}), Transform::difference);
              }),
              HasSubstr("c0"));
}

TEST(Series, StandardisedSeries) {
  const Series s = plain(table({{1, 2, missing, 3}}), Transform::none, Standardize::series);
  EXPECT_DOUBLE_EQ(s.values[0][0], -1);  // mean 2, standard deviation 1 with n - 1
  EXPECT_DOUBLE_EQ(s.values[0][3], 1);
  EXPECT_EQ(s.deviation[0], 1);
}

TEST(Scaling, ConstantIsOnlyCentred) {
  const Scaling z = scaling_of(std::vector(7, 0.1));
  EXPECT_EQ(z.mean, 0.1);
  EXPECT_EQ(z.deviation, 1);
}

TEST(Scaling, HasNoUnits) {
  const std::vector<double> x{3, -1, 4, -1, 5, -9, 2, -6, 5};
  const Scaling plain = scaling_of(x);
  EXPECT_DOUBLE_EQ(plain.mean, 2 / 9.0);
  EXPECT_DOUBLE_EQ(plain.deviation, std::sqrt((198 - 4 / 9.0) / 8));
  for (const double unit : {1e160, 1e-162, 1e307, 1e-300, -1e5}) {
    std::vector<double> scaled{missing};
    for (const double v : x) scaled.push_back(v * unit), scaled.push_back(missing);
    const Scaling z = scaling_of(scaled);
    EXPECT_NEAR(z.mean / unit, plain.mean, 1e-14) << unit;
    EXPECT_NEAR(z.deviation / std::abs(unit), plain.deviation, 1e-14) << unit;
  }
}

TEST(Scaling, OfSmallDifferencesFarFromZero) {
  std::vector<double> x;
  for (int t = 0; t < 1001; ++t) x.push_back(9.8e8 + (t % 3 - 1) * 0x1p-6);
  const Scaling z = scaling_of(x);
  EXPECT_NEAR(z.mean, 9.8e8, 1e-4);
  EXPECT_NEAR(z.deviation / 0x1p-6, std::sqrt(2 / 3.0), 1e-3);
}

TEST(Noise, OfAColumnIsThatOfItsElements) {
  for (const std::size_t n : {0, 1, 7, 1024, 3001}) {
    std::vector<double> noise(n);
    fill_noise(9, 4, 1e-8, noise);
    for (std::size_t t = 0; t < n; ++t) ASSERT_EQ(noise[t], 1e-8 * element_noise(9, 4, std::int64_t(t))) << t;
  }
}

TEST(Noise, IsAFunctionOfColumnAndRow) {
  const Table t = table({{1, 2, 3, 4}, {4, 1, 3, 2}, {2, 4, 1, 3}});
  Preparation p;
  p.seed = 5;
  const std::vector<std::size_t> all{0, 1, 2}, some{2, 0};
  const Series a = make_series(t, all, p), b = make_series(t, some, p);
  EXPECT_EQ(a.noise[2], b.noise[0]);
  EXPECT_EQ(a.noise[0], b.noise[1]);
  EXPECT_EQ(a.noise[1][3], 1e-8 * element_noise(5, a.keys[1], 3));
  EXPECT_NE(element_noise(5, 1, 3), element_noise(6, 1, 3));
}

TEST(Noise, IsNormal) {
  constexpr int n = 100000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < n; ++i) {
    const double z = element_noise(1, std::uint64_t(i % 10), i / 10);
    sum += z, squares += z * z, fourth += z * z * z * z;
  }
  const double five_errors = 5 / std::sqrt(double(n));
  EXPECT_NEAR(sum / n, 0, five_errors);
  EXPECT_NEAR(squares / n, 1, five_errors * std::sqrt(2));
  EXPECT_NEAR(fourth / n, 3, five_errors * std::sqrt(96));
}

TEST(Embedding, PastAndReach) {
  const Coordinates c = past(2, {3, 4}, 2);
  ASSERT_EQ(c.size(), 3u);
  EXPECT_EQ(c[0].lag, 2);
  EXPECT_EQ(c[2].lag, 10);
  EXPECT_EQ(c[1].variable, 2);
  EXPECT_EQ(reach(c), 10);
}

// Stretches shorter and longer than what is embedded at once, in several columns.
TEST(Embedding, OfRowsBetweenGaps) {
  std::vector<double> x, y;
  for (int t = 0; t < 1500; ++t) {
    const bool gap = t == 3 || t == 5 || t == 700 || t == 1499;
    x.push_back(gap ? missing : t), y.push_back(t * t);
  }
  Preparation p;
  p.standardize = Standardize::none, p.noise = 0.5, p.seed = 3;
  const std::vector<std::size_t> both{0, 1};
  const Series s = make_series(table({x, y}), both, p);
  const std::vector<std::int64_t> times = embeddable(s, 2);
  ASSERT_EQ(times.size(), 1u + 0u + 692u + 796u);
  std::vector<double> rows(2 * times.size());
  embed(s, {{1, 2}, {0, 0}}, times, rows.data());
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto t = double(times[i]);
    ASSERT_EQ(rows[2 * i], (t - 2) * (t - 2) + 0.5 * element_noise(3, s.keys[1], times[i] - 2)) << t;
    ASSERT_EQ(rows[2 * i + 1], t + 0.5 * element_noise(3, s.keys[0], times[i])) << t;
  }
}

TEST(Embedding, ColumnsAreStandardisedOverTheirRows) {
  const Series s = plain(table({{1, 2, 3, 100}}), Transform::none, Standardize::columns);
  double out[3] = {};
  embed(s, {{0, 1}}, std::vector<std::int64_t>{1, 2, 3}, out);
  EXPECT_THAT(out, ElementsAre(-1, 0, 1)) << "the last value is no past value";
}

}  // namespace
}  // namespace kolmo
