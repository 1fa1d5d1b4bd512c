#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/base/error.hpp"
#include "kolmo/tune/strategy.hpp"
#include "kolmo/tune/tune.hpp"
#include "tests/sim/simulated_measurer.hpp"

namespace kolmo::tune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Noise quiet{0.001, 0, 0, 1};

Space line(std::size_t n) {
  Parameter p{"x", {}};
  for (std::size_t i = 0; i < n; ++i) p.values.push_back(std::int64_t(i));
  return Space({p});
}

TEST(Space, IsTheProductLessWhatIsNotFeasible) {
  const Space s({{"a", {1, 2, 4}}, {"b", {10, 20}}}, [](const Values& v) { return v[0] * v[1] <= 40; });
  EXPECT_EQ(s.combinations(), 6u);
  EXPECT_EQ(s.size(), 5u);
  EXPECT_THAT(s.values(4), ElementsAre(4, 10));
  EXPECT_EQ(s.id(4), 4u);
  EXPECT_EQ(s.find({4, 10}), 4u);
  EXPECT_EQ(s.find({4, 20}), s.size());
  EXPECT_EQ(s.find({3, 20}), s.size());
  EXPECT_EQ(s.describe(4), "a=4 b=10");
  EXPECT_THAT(s.neighbours(s.find({2, 20})), ElementsAre(s.find({1, 20}), s.find({2, 10})));
}

TEST(Space, RefusesWhatIsNone) {
  EXPECT_THROW(Space(std::vector<Parameter>{{"a", {}}}), InvalidArgument);
  EXPECT_THROW(Space(std::vector<Parameter>{{"a", {1, 1}}}), InvalidArgument);
  EXPECT_THROW(Space(std::vector<Parameter>{{"a", {1}}}, [](const Values&) { return false; }),
               InvalidArgument);
}

TEST(Statistics, TheSignTestsInterval) {
  const std::vector<double> ones(10, 1.0);
  const std::vector<double> slow{1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0};
  const Ratio r = paired_ratio(slow, ones);
  EXPECT_DOUBLE_EQ(r.median, 1.55);
  EXPECT_DOUBLE_EQ(r.lower, 1.2);  // the second of ten: P(Bin(10, 1/2) <= 1) = 0.0107, with <= 2 it is 0.0547
  EXPECT_DOUBLE_EQ(r.upper, 1.9);
  EXPECT_EQ(paired_ratio(std::span(slow).first(5), ones).lower, 0);  // five pairs give no interval
  const std::vector<double> gaps{NAN, 2, NAN, 2};
  EXPECT_EQ(paired_ratio(gaps, ones).pairs, 2);
}

class EveryStrategy : public testing::TestWithParam<std::string_view> {};

TEST_P(EveryStrategy, FindsTheBestOfASmallSpace) {
  const Space space = line(8);
  SimulatedMeasurer m({8e-6, 7e-6, 6e-6, 5e-6, 3e-6, 4e-6, 9e-6, 9e-6}, {}, 7);
  TuneOptions o;
  o.strategy = GetParam();
  const Tuning t = tune("line", space, m, o);
  EXPECT_EQ(t.winner, 4u);
  EXPECT_TRUE(t.decided);
  EXPECT_NEAR(t.speedup(), 8.0 / 3, 0.1);
  EXPECT_GT(t.finding(4).gain.lower, 2.5);
  EXPECT_EQ(t.strategy, GetParam());
}

TEST_P(EveryStrategy, KeepsTheDefaultWhereNothingIsMoreThanTwoPercentBetter) {
  const Space space = line(6);
  SimulatedMeasurer m({1e-5, 0.985e-5, 0.99e-5, 1.3e-5, 0.995e-5, 1e-5}, quiet, 3);
  TuneOptions o;
  o.strategy = GetParam();
  EXPECT_EQ(tune("line", space, m, o).winner, 0u);
}

TEST_P(EveryStrategy, LeavesOutWhatCannotRun) {
  const Space space = line(5);
  SimulatedMeasurer m({5e-6, 0, 4e-6, 0, 3e-6}, {}, 5);
  TuneOptions o;
  o.strategy = GetParam();
  const Tuning t = tune("line", space, m, o);
  EXPECT_THAT(t.winner, testing::AnyOf(2u, 4u));
  if (GetParam() == "exhaustive") {
    EXPECT_THAT(t.finding(1).error, HasSubstr("cannot run"));
  }
}

TEST_P(EveryStrategy, StopsWhenTheBudgetIsSpent) {
  const Space space = line(64);
  SimulatedMeasurer m(std::vector<double>(64, 1e-3), {}, 5);
  TuneOptions o;
  o.strategy = GetParam(), o.budget = 0.02;
  const Tuning t = tune("line", space, m, o);
  EXPECT_FALSE(t.decided);
  EXPECT_EQ(t.winner, 0u);
  EXPECT_LT(t.seconds, 0.02 + 0.01);  // a sample that was started is also finished
}

INSTANTIATE_TEST_SUITE_P(Tune, EveryStrategy, testing::ValuesIn(strategy_names),
                         [](const auto& info) { return std::string(info.param); });

/// A naive configuration that takes longer than the whole budget takes no time from the others.
TEST(Tune, TheNaiveConfigurationComesLast) {
  const Space space = line(4);
  SimulatedMeasurer m({3e-6, 2.0, 1e-6, 2e-6}, quiet, 1);
  TuneOptions o;
  o.naive = 1, o.budget = 0.1;
  const Tuning t = tune("line", space, m, o);
  EXPECT_TRUE(t.decided);
  EXPECT_EQ(t.winner, 2u);
  EXPECT_EQ(t.finding(1).samples, 1);
  EXPECT_NEAR(t.speedup() / t.finding(1).gain.median, 2e6, 0.1 * 2e6);
}

TEST(Tune, TheNaiveConfigurationMayBeTheFastest) {
  const Space space = line(4);
  SimulatedMeasurer m({3e-6, 1e-6, 2e-6, 2e-6}, quiet, 1);
  TuneOptions o;
  o.naive = 1;
  const Tuning t = tune("line", space, m, o);
  EXPECT_TRUE(t.decided);
  EXPECT_EQ(t.winner, 1u);
  EXPECT_NEAR(t.speedup(), 3, 0.1);
}

TEST(Tune, AWrongConfigurationCannotWin) {
  const Space space = line(3);
  SimulatedMeasurer m({3e-6, 1e-6, 2e-6}, quiet, 1);
  TuneOptions o;
  o.verify = [](std::size_t c) -> std::string {
    if (c == 1) fail<Error>("z(0) is 2, expected 1");
    return "exact";
  };
  const Tuning t = tune("line", space, m, o);
  EXPECT_EQ(t.winner, 2u);
  EXPECT_EQ(t.finding(2).verified, "exact");
  EXPECT_EQ(t.finding(1).error, "z(0) is 2, expected 1");
}

TEST(Tune, AnIncumbentStaysUnlessClearlyBeaten) {
  const Space space = line(3);
  TuneOptions o;
  o.incumbent = 2;
  SimulatedMeasurer near({3e-6, 0.99e-6, 1e-6}, quiet, 1);
  EXPECT_EQ(tune("line", space, near, o).winner, 2u);
  SimulatedMeasurer far({3e-6, 0.9e-6, 1e-6}, quiet, 1);
  EXPECT_EQ(tune("line", space, far, o).winner, 1u);
}

TEST(Tune, ADefaultThatCannotRunIsAnError) {
  const Space space = line(2);
  SimulatedMeasurer m({0, 1e-6}, quiet, 1);
  try {
    tune("line", space, m);
    FAIL();
  } catch (const Unsupported& e) {
    EXPECT_THAT(e.what(), HasSubstr("line: the default configuration cannot run"));
  }
}

TEST(Tune, DiscardedSamplesAreCountedAndNotUsed) {
  struct Throttled final : Measurer {
    double clock = 0;
    int n = 0;
    std::optional<double> sample(std::size_t c) override {
      clock += 1e-3;
      if (++n % 5 == 0) return {};
      return c == 0 ? 2e-6 : 1e-6;
    }
    double spent() const override { return clock; }
  } m;
  const Tuning t = tune("line", line(2), m);
  EXPECT_EQ(t.winner, 1u);
  EXPECT_GT(t.discarded, 0u);
  EXPECT_DOUBLE_EQ(t.finding(1).seconds.median, 1e-6);
}

TEST(Tune, AnyFunctionCanBeTuned) {
  int calls = 0;
  const Tuning t = tune("any", line(3), [&](const Values& v) {
    ++calls;
    return v[0] == 1 ? 1.0 : 2.0;
  });
  EXPECT_EQ(t.winner, 1u);
  // One more call for each configuration: its first call is not counted.
  EXPECT_EQ(std::size_t(calls), t.samples + t.tried);
  EXPECT_THROW(tune("any", line(2), [](const Values&) { return 0.0; }), Unsupported);
}

}  // namespace
}  // namespace kolmo::tune
