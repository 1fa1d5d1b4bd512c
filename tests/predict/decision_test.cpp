#include "kolmo/predict/decide/decision.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/base/error.hpp"

namespace kolmo::predict {
namespace {

/// Losses that are spread by `spread` on both sides of `median(ahead)`, uniformly between levels.
template <class F>
Outlook around(F median, double spread, std::int64_t steps, const char* driver) {
  std::vector<double> ahead, quantiles;
  for (std::int64_t step = 1; step <= steps; ++step) {
    ahead.push_back(double(step));
    for (std::size_t i = 0; i < quantile_count; ++i)
      quantiles.push_back(median(double(step)) + spread * (2 * quantile_level(i) - 1));
  }
  return {ahead, quantiles, driver};
}

TEST(Outlooks, InterpolateBetweenStepsAndLevels) {
  const Outlook o = around([](double ahead) { return 2 - ahead / 10; }, .5, 10, "line");
  EXPECT_DOUBLE_EQ(o.median(4), 1.6);
  EXPECT_DOUBLE_EQ(o.median(4.5), 1.55);
  EXPECT_DOUBLE_EQ(o.median(0), 1.9) << "before the first step it stays";
  EXPECT_DOUBLE_EQ(o.median(99), 1.0);
  EXPECT_NEAR(o.quantile(.75, 4), 1.85, 1e-15);
  EXPECT_NEAR(o.quantile(.775, 4), 1.875, 1e-15);
  EXPECT_NEAR(o.probability_below(1.85, 4), .75, 1e-12);
  EXPECT_DOUBLE_EQ(o.probability_below(0, 4), .025);
  EXPECT_DOUBLE_EQ(o.probability_below(9, 4), .975);
  EXPECT_EQ(o.reaches(1.55), 5);
  EXPECT_EQ(o.reaches(.5), INFINITY);
  EXPECT_THROW(Outlook({1, 2}, {1, 2, 3}, ""), InvalidArgument);
  EXPECT_THROW(Outlook({}, {}, ""), InvalidArgument);
}

/// The loss falls by 1e-4 a step; a decay lowers it by 1e-3 a step more, up to .1.
Situation falling(std::int64_t steps) {
  Situation s{.steps = steps,
              .target = {},
              .remaining = {},
              .stride = decision_stride(steps, 10),
              .going_on = around([](double ahead) { return 1 - 1e-4 * ahead; }, .01, 4000, "free"),
              .decaying = {},
              .offset = 0};
  s.decaying = [](std::int64_t start, std::int64_t length) {
    return around(
        [=](double ahead) {
          return 1 - 1e-4 * ahead - std::min(.1, 1e-3 * std::max(0., ahead - double(start)));
        },
        .01, start + length, "decay");
  };
  return s;
}

TEST(Decisions, ADecayStartsThatReachesTheTargetFirst) {
  Situation s = falling(1000);
  s.target = .9;  // alone in 1000 steps; by a decay of 120 steps: 1 - .012 - .1 = .888
  const Decision d = choose(s);
  EXPECT_EQ(d.action, Decision::start_decay);
  EXPECT_EQ(d.length, 120);
  EXPECT_EQ(d.step, 1000);
  EXPECT_NEAR(d.forecast, .888, 1e-12);
  EXPECT_NEAR(d.margin, .012, 1e-12);
  EXPECT_DOUBLE_EQ(d.probability, .975);
  EXPECT_EQ(d.driver, "decay");
}

TEST(Decisions, ADecayThatOnlyALaterStartAllowsIsWaitedFor) {
  Situation s = falling(1000);
  s.target = .8838 /
             .995;  // at the margin: a decay of 120 steps must begin in 50 steps, and of 350 steps ends later
  const Decision d = choose(s);
  EXPECT_EQ(d.action, Decision::go_on);
  EXPECT_EQ(d.reason, "a decay in 50 steps reaches the target before one that starts now");
}

TEST(Decisions, NoDecayStartsWhereTheLossGetsThereAlone) {
  Situation s = falling(1000);
  s.target = .995 / .995;  // in 50 steps alone
  const Decision d = choose(s);
  EXPECT_EQ(d.action, Decision::go_on);
  EXPECT_EQ(d.driver, "free");
  EXPECT_EQ(d.reason, "without a decay the target is reached in 50 steps, with one in 120");
}

TEST(Decisions, WithoutTargetAndBudgetItGoesOn) {
  EXPECT_EQ(choose(falling(1000)).reason, "there is neither a target nor a budget");
  Situation s = falling(1000);
  s.target = .1;
  EXPECT_EQ(choose(s).reason, "no decay is forecast to reach the target yet");
}

TEST(Decisions, WithinABudgetTheDecayLastsToItsEnd) {
  Situation s = falling(1000);
  s.remaining = 400;  // the longest decay has .35 / 1.35 of 1400 steps, which is 363
  EXPECT_EQ(choose(s).reason, "a decay to the end is not begun before 363 steps remain");
  s.remaining = 350;
  EXPECT_EQ(choose(s).action, Decision::start_decay) << "a later one ends as low, but not lower";
  EXPECT_EQ(choose(s).length, 350);
  s.remaining = 10;
  EXPECT_EQ(choose(s).reason, "10 steps remain, which are too few for a decay");
  s.remaining = 350, s.offset = .2;
  EXPECT_EQ(choose(s).reason, "a decay is not forecast to beat going on by the margin");
}

TEST(Decisions, ALaterDecayIsWaitedForIfItEndsLower) {
  Situation s = falling(1000);
  s.remaining = 350;
  s.decaying = [](std::int64_t start, std::int64_t length) {
    return around([=](double) { return start ? .5 : .6; }, .01, start + length, "decay");
  };
  EXPECT_EQ(choose(s).action, Decision::go_on);
  EXPECT_EQ(choose(s).reason, "a decay that starts later is forecast to end lower");
}

TEST(Decisions, LengthsAndHorizons) {
  EXPECT_EQ(decision_stride(100, 10), 50);
  EXPECT_EQ(decision_stride(5000, 10), 250);
  EXPECT_EQ(decision_horizon(1000, {}, 50, 10), 450);
  EXPECT_EQ(decision_horizon(1000, 3, 50, 10), 10);
  EXPECT_EQ(decision_horizon(1000, 300, 50, 10), 300);
  EXPECT_EQ(decision_horizon(1000, 1000000, 50, 10), 450);
}

}  // namespace
}  // namespace kolmo::predict
