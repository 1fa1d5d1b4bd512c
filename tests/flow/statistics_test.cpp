#include "kolmo/flow/test/statistics.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace kolmo {
namespace {

using testing::DoubleEq;
using testing::Pointwise;

TEST(PValue, CountsSurrogatesAtLeastAsLarge) {
  const std::vector<double> surrogates{0.1, 0.5, 0.5, 0.9};
  EXPECT_DOUBLE_EQ(p_value(0.5, surrogates, PValue::plus_one), 4.0 / 5);  // 0.5, 0.5, 0.9 and the data
  EXPECT_DOUBLE_EQ(p_value(0.5, surrogates, PValue::plain), 3.0 / 4);
  EXPECT_DOUBLE_EQ(p_value(1.0, surrogates, PValue::plus_one), 1.0 / 5);
  EXPECT_DOUBLE_EQ(p_value(1.0, surrogates, PValue::plain), 0);
  EXPECT_TRUE(std::isnan(p_value(1.0, {}, PValue::plus_one)));
}

// Under the null hypothesis the rank of the observed value among S + 1 is uniform.
TEST(PValue, IsExactAtEveryLevel) {
  for (const int s : {19, 20, 99, 100})
    for (const auto convention : {PValue::plus_one, PValue::plain}) {
      int significant = 0;
      std::vector<double> surrogates;
      for (int i = 0; i < s; ++i) surrogates.push_back(i);
      for (int rank = 0; rank <= s; ++rank)
        significant += is_significant(p_value(rank - 0.5, surrogates, convention), 0.05, convention);
      EXPECT_EQ(significant, int(std::floor(0.05 * (s + 1) + 1e-9))) << s << ' ' << int(convention);
    }
}

// The p-values in order are 0.005 0.01 0.02 0.04 0.5, and times 5 / rank 0.025 0.025 0.0333 0.05 0.5.
TEST(Adjust, BenjaminiHochberg) {
  EXPECT_THAT(adjust(std::vector{0.04, 0.005, 0.5, 0.01, 0.02}, Correction::bh),
              Pointwise(DoubleEq(), {0.05, 0.025, 0.5, 0.025, 0.02 * 5 / 3}));
}
// 3 * 0.04 / 2 = 0.06 is reduced to the adjusted value of the larger 0.045, which is 0.045.
TEST(Adjust, BenjaminiHochbergIsMonotone) {
  EXPECT_THAT(adjust(std::vector{0.04, 0.045, 0.03}, Correction::bh),
              Pointwise(DoubleEq(), {0.045, 0.045, 0.045}));
}
TEST(Adjust, Bonferroni) {
  EXPECT_THAT(adjust(std::vector{0.04, 0.005, 0.5}, Correction::bonferroni),
              Pointwise(DoubleEq(), {0.12, 0.015, 1.0}));
}
TEST(Adjust, None) {
  EXPECT_THAT(adjust(std::vector{0.04, 0.005}, Correction::none), Pointwise(DoubleEq(), {0.04, 0.005}));
}
TEST(Adjust, NotANumberCountsAsOne) {
  EXPECT_THAT(adjust(std::vector{std::nan(""), 0.01}, Correction::bh), Pointwise(DoubleEq(), {1.0, 0.02}));
}
TEST(Adjust, Nothing) { EXPECT_TRUE(adjust({}, Correction::bh).empty()); }

TEST(Summarize, ByHand) {
  std::vector<double> v;
  for (int i = 20; i > 0; --i) v.push_back(i);
  const Summary s = summarize(v);
  EXPECT_DOUBLE_EQ(s.mean, 10.5);
  EXPECT_DOUBLE_EQ(s.deviation, std::sqrt(35.0));
  EXPECT_DOUBLE_EQ(s.q95, 19);  // 19 of 20 values do not exceed it
  EXPECT_TRUE(std::isnan(summarize({}).mean));
  EXPECT_DOUBLE_EQ(summarize(std::vector{3.0}).q95, 3);
}

}  // namespace
}  // namespace kolmo
