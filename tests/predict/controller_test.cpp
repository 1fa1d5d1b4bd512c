#include "kolmo/predict/decide/controller.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "kolmo/base/error.hpp"
#include "tests/predict/controlled_training.hpp"

namespace kolmo::predict {
namespace {

using Phase = Controller::Phase;

TEST(Controllers, TakeADecayThatReachesTheTargetThroughItsPhases) {
  Training t;
  Controller c(to_target(1.55));
  t.steps(c, 39);
  EXPECT_EQ(c.phase(), Phase::warmup);
  EXPECT_TRUE(c.decisions().empty());
  EXPECT_TRUE(t.evaluated.empty());
  t.step(c);
  ASSERT_EQ(c.decisions().size(), 1u) << "the shortest decay, .12 of 40 steps, is at least 20";
  EXPECT_EQ(c.decisions()[0].action, Decision::start_decay);
  EXPECT_EQ(c.decisions()[0].length, 20);
  EXPECT_NEAR(c.decisions()[0].margin, .05, 1e-12);
  EXPECT_EQ(c.phase(), Phase::predict);
  t.steps(c, 19);
  EXPECT_EQ(c.phase(), Phase::predict);
  t.step(c);
  EXPECT_TRUE(c.done());
  for (int i = 0; i < 20; ++i) EXPECT_NEAR(t.factors[std::size_t(40 + i)], 1 - i / 20., 1e-15);
  // x follows the falling factor 4 steps behind: .2 + .05 - what is left of the start
  double x = 1;
  for (int i = 0; i < 20; ++i) x += .2 * (1 - i / 20. - x);
  const Outcome& outcome = c.decisions()[0].outcome;
  EXPECT_DOUBLE_EQ(*outcome.measured, 1 + x);
  EXPECT_NEAR(*outcome.error, x - .5, 1e-12);
  EXPECT_FALSE(*outcome.rolled_back);
  EXPECT_EQ(c.decisions()[1].reason, "the target is reached");
  EXPECT_EQ(c.charged(), 60);
  EXPECT_EQ(t.factor, 0) << "a training that is over stands still";
}

TEST(Controllers, RollBackADecayThatMissesAndChargeIt) {
  Training t;
  t.promise = .5;
  Controller c(to_target(.6));
  t.steps(c, 60);
  const Decided& decay = c.decisions()[0];
  EXPECT_TRUE(*decay.outcome.rolled_back);
  EXPECT_EQ(c.phase(), Phase::full);
  EXPECT_EQ(c.steps(), 40);
  EXPECT_EQ(c.charged(), 60);
  EXPECT_EQ(t.x, 1);
  EXPECT_EQ(t.factor, 1);
  EXPECT_EQ(t.log.size(), 40u);
  EXPECT_EQ(c.offset(), *decay.outcome.error);
  EXPECT_NEAR(c.offset(), *decay.outcome.measured - .5, 1e-12);
  EXPECT_EQ(c.kept(), std::vector<std::int64_t>{0}) << "the start of the decay is no longer needed";
  t.steps(c, 200);
  const std::vector<std::string_view> all = actions(c);
  EXPECT_EQ(std::count(all.begin(), all.end(), Decision::start_decay), 1)
      << "with what the forecast was wrong by, no later decay reaches the target";
}

TEST(Controllers, EndABudgetWithItsDecay) {
  Training t;
  ControlOptions options = to_target(0);
  options.target.reset(), options.budget = 300;
  Controller c(options);
  t.steps(c, 500);
  ASSERT_TRUE(c.done());
  EXPECT_EQ(c.steps(), 300);
  EXPECT_EQ(c.decisions().back().reason, "the decay ends the budget");
  const Decided& decay = c.decisions()[c.decisions().size() - 2];
  EXPECT_EQ(decay.action, Decision::start_decay);
  EXPECT_EQ(decay.step + decay.length, 300);
}

TEST(Controllers, OnlyAdviseWithoutControl) {
  Training t;
  ControlOptions options = to_target(1.55);
  options.control = false;
  Controller c(options);
  t.steps(c, 200);
  EXPECT_EQ(t.x, 1);
  EXPECT_TRUE(t.states.empty());
  EXPECT_EQ(c.phase(), Phase::full);
  EXPECT_EQ(actions(c), std::vector<std::string_view>(9, Decision::start_decay)) << "40, 60, ..., 200";
}

TEST(Controllers, ReturnTheBestAverageAndPassOverLossesThatAreNoNumbers) {
  for (const double above : {0., double(NAN)}) {
    Training t;
    t.average = 1.2, t.above = above;
    ControlOptions options = to_target(1.3);
    options.averages = {"power"};
    Controller c(options);
    t.steps(c, 40);
    ASSERT_TRUE(c.done());
    EXPECT_EQ(c.decisions()[0].action, Decision::return_average);
    EXPECT_EQ(c.decisions()[0].outcome.average, "power");
    EXPECT_EQ(t.adopted, "power");
    if (above == 0) {
      EXPECT_NEAR(c.decisions()[0].margin, .8, 1e-12);
    }
  }
}

TEST(Controllers, EndABudgetAlsoIfTheEvaluationThrows) {
  struct Throws : Training {
    std::optional<Losses> evaluate(const std::vector<std::string>&) override { fail<Error>("no data"); }
  } t;
  Controller c({.control = true, .evaluates = true, .budget = 30, .warmup = 100});
  t.steps(c, 29);
  EXPECT_THROW(t.step(c), Error);
  EXPECT_TRUE(c.done());
  EXPECT_EQ(t.factor, 0);
}

TEST(Controllers, ReturnTheAverageThatReachedTheTargetAlsoIfTheWeightsCannotBeEvaluated) {
  struct Throws : Training {
    std::optional<Losses> evaluate(const std::vector<std::string>& of) override {
      if (of == std::vector<std::string>{""}) fail<Error>("no data");
      return Training::evaluate(of);
    }
  } t;
  t.average = 1.8, t.seconds = 1;
  ControlOptions options = to_target(1.7);
  options.averages = {"power"}, options.overhead = .005;
  Controller c(options, [&] { return t.clock; });
  t.charged = &c, t.promise = 3;
  t.steps(c, 60);
  t.average = 1.6;
  EXPECT_THROW(t.steps(c, 100), Error);
  EXPECT_TRUE(c.done());
  EXPECT_EQ(c.decisions().back().action, Decision::return_average);
  EXPECT_EQ(t.adopted, "power");
}

TEST(Controllers, NoLossIsReachedByMinusInfinity) {
  Training t;
  t.above = -std::numeric_limits<double>::infinity();
  Controller c(to_target(.5));
  t.steps(c, 200);
  EXPECT_FALSE(c.done());
}

TEST(Controllers, ForecastTheTrainingLossIfHeldOutLossesAreNoPositiveNumbers) {
  Training t;
  t.above = -3;
  Controller c(to_target(-5));
  t.steps(c, 400);
  for (const auto& q : t.questions) EXPECT_EQ(q.of, "training");
}

TEST(Controllers, EvaluateOnlyTheLeaderWhileForecastsAreNotAffordable) {
  Training t;
  t.average = 1.8, t.seconds = 1;  // a forecast takes as long as 300 steps
  ControlOptions options = to_target(1.7);
  options.averages = {"power"}, options.overhead = .005;
  Controller c(options, [&] { return t.clock; });
  t.charged = &c, t.promise = 3;
  t.steps(c, 180);
  const std::vector<std::string> all{"", "power"}, leader{"power"};
  EXPECT_EQ(t.evaluated, (std::vector{all, leader, leader, leader, leader, all, leader, leader}));
  Controller d(options, [&] { return t.clock; });
  d.load(c.state());
  EXPECT_EQ(d.state(), c.state());
  t.average = 1.6;
  t.steps(c, 20);
  ASSERT_TRUE(c.done());
  EXPECT_EQ(t.evaluated[8], leader);
  EXPECT_EQ(t.evaluated[9], std::vector<std::string>{""}) << "the margin to the weights is told at the end";
  EXPECT_NEAR(c.decisions().back().margin, .4, 1e-9);
}

TEST(Controllers, GoBackToTheVerifiedStateAfterABadLossAndStopAfterThree) {
  Training t;
  Controller c(to_target(.1));  // out of reach
  t.steps(c, 150);
  EXPECT_EQ(c.kept(), std::vector<std::int64_t>{100}) << "a candidate at 100, verified by the block to 110";
  t.bad_from = 150;
  t.steps(c, 10);
  const Decided first = c.decisions().back();
  EXPECT_EQ(first.action, Decision::alarm);
  EXPECT_EQ(*first.outcome.returned_to, 100);
  EXPECT_EQ(*first.outcome.rate_factor, .5);
  EXPECT_EQ(c.steps(), 100);
  EXPECT_EQ(c.charged(), 160);
  EXPECT_EQ(t.factor, .5);
  EXPECT_EQ(t.alarms, 1);
  t.bad_from = 100;
  t.steps(c, 20);
  EXPECT_TRUE(c.done());
  EXPECT_EQ(c.decisions().back().reason, "3 alarms, the last: the loss is not a finite number");
  EXPECT_EQ(c.base_factor(), .125);
}

TEST(Controllers, GoBackToTheStartOfADecayInWhichTheLossIsBad) {
  Training t;
  Controller c(to_target(1.55));
  t.steps(c, 45);
  t.bad_from = 47;
  t.steps(c, 5);
  EXPECT_EQ(c.steps(), 40);
  EXPECT_EQ(c.phase(), Phase::full);
  EXPECT_TRUE(*c.decisions()[0].outcome.rolled_back);
  EXPECT_EQ(c.decisions()[0].outcome.reason, "the loss is not a finite number");
  EXPECT_EQ(*c.decisions()[1].outcome.returned_to, 40);
}

TEST(Controllers, LeaveOutWhatThereIsNoMemoryFor) {
  Training t;
  Controller c(to_target(1.55));
  t.steps(c, 39);
  t.memory = false;
  t.step(c);
  EXPECT_EQ(c.decisions()[0].reason, "there was no memory for the evaluation");
  Training u;
  u.evaluates = false;
  Controller d(to_target(1.55));
  u.steps(d, 39);
  u.memory = false;
  u.step(d);
  EXPECT_EQ(d.decisions()[0].reason, "there is no memory for the snapshot that a decay starts from");
  EXPECT_EQ(d.phase(), Phase::full);
  u.memory = true;
  u.steps(d, 20);
  EXPECT_EQ(d.phase(), Phase::predict);
}

/// A decision asks for at most 7 forecasts of 1 ms, so with a share of .005 it needs 2.8 s of wall time, which are 933 steps of 3 ms.
TEST(Controllers, KeepForecastsWithinHalfOfTheShareOfTheWallTime) {
  for (const bool guarded : {true, false}) {
    Training t;
    t.seconds = .001;
    ControlOptions options = to_target(.1);
    options.overhead = guarded ? std::optional(.005) : std::nullopt;
    Controller c(options, [&] { return t.clock; });
    t.charged = &c;
    t.steps(c, 10000);
    const double share = c.charges().seconds(Charge::forecasts) / c.charges().wall();
    if (guarded) {
      EXPECT_LE(share, .0025);
      EXPECT_GE(share, .0020);
      EXPECT_GE(c.decisions().front().step, 2660)
          << "a first decision is taken to cost 20 ms, half a percent of 8 s halved";
    } else {
      EXPECT_GT(share, .05);
    }
    EXPECT_NEAR(c.charges().wall(), 9999 * .003, 1e-9);
  }
}

/// Killed in warmup, at the start of a decay, within it, after its rollback, and with a candidate that is not verified yet.
TEST(Controllers, GoOnFromTheirStateAsIfNeverKilled) {
  for (const int killed : {7, 40, 47, 60, 121, 129}) {
    Training t;
    t.promise = .5;
    Controller c(to_target(.6), [&] { return t.clock; });
    t.steps(c, killed);
    Training u = t;
    Controller d(to_target(.6), [&] { return u.clock; });
    d.load(c.state());
    EXPECT_EQ(d.state(), c.state());
    t.steps(c, 150), u.steps(d, 150);
    EXPECT_EQ(t.x, u.x);
    EXPECT_EQ(t.factors, u.factors);
    ASSERT_EQ(d.decisions().size(), c.decisions().size());
    EXPECT_EQ(d.charged(), c.charged());
    for (std::size_t i = 0; i < c.decisions().size(); ++i)
      EXPECT_EQ(text_of(d.decisions()[i]), text_of(c.decisions()[i]));
  }
}

TEST(Controllers, AreUnchangedByAStateThatIsDamaged) {
  Training t;
  Controller c(to_target(1.55));
  t.steps(c, 45);
  const std::string was = c.state();
  std::string bad = was;
  bad.replace(bad.find("\"decay\":[0,40]"), 14, "\"decay\":[9,40]");
  for (const std::string& text : {std::string("{"), std::string("{}"), bad})
    EXPECT_THROW(c.load(text), InvalidArgument);
  const Controller& same = c;
  EXPECT_EQ(same.steps(), 45);
  EXPECT_EQ(c.phase(), Phase::predict);
}

TEST(Controllers, ForgetAVerifiedStateThatTheHostWentBackBehind) {
  Training t;
  Controller c(to_target(.1));
  t.steps(c, 150);
  t.restore(100, true), c.went_back(90);
  EXPECT_EQ(c.charged(), 150);
  EXPECT_TRUE(c.kept().empty());
  t.x = .25, t.log.resize(90);
  c.before_step(t);
  EXPECT_EQ(c.kept(), std::vector<std::int64_t>{90});
}

/// The host says what rank 0 says.
TEST(Controllers, FollowTheFirstOfSeveralProcesses) {
  struct Second : Training {
    std::vector<std::string> said;
    std::size_t next = 0;
    std::string agree(std::string) override { return said.at(next++); }
  };
  struct First : Training {
    std::vector<std::string> said;
    std::string agree(std::string value) override { return said.push_back(value), value; }
  };
  First a;
  Controller first(to_target(1.55));
  a.steps(first, 60);
  Second b;
  b.said = a.said, b.promise = 3, b.bad_from = 15;
  Controller second(to_target(1.55));
  b.steps(second, 60);
  EXPECT_EQ(b.factors, a.factors);
  EXPECT_EQ(actions(second), actions(first));
  EXPECT_EQ(b.next, b.said.size());
}

TEST(Controllers, RefuseOptionsThatLeaveNothingToDo) {
  EXPECT_THROW(Controller({.control = true}), InvalidArgument);
  EXPECT_THROW(Controller({.every = 0}), InvalidArgument);
  EXPECT_THROW(Controller({.overhead = 0.}), InvalidArgument);
  EXPECT_THROW(charge_of("coffee"), InvalidArgument);
}

TEST(Controllers, EndWhereAReportedLossReachesTheTarget) {
  Training t;
  ControlOptions options = to_target(1.55);
  options.evaluates = false;
  t.evaluates = false;
  Controller c(options);
  t.steps(c, 10);
  c.validated(t, "", 1.6);
  EXPECT_FALSE(c.done());
  c.validated(t, "power", 1.5);
  EXPECT_TRUE(c.done());
  EXPECT_EQ(t.adopted, "power");
}

TEST(Controllers, EndWhereTheMeanTrainingLossReachesTheTargetIfNoOtherIsKnown) {
  for (const bool held_out : {false, true}) {
    Training t;
    ControlOptions options = to_target(2.01);  // the loss is 2
    options.evaluates = t.evaluates = false;
    if (held_out) t.held_out = {2.5};
    Controller c(options);
    t.steps(c, 40);
    EXPECT_EQ(c.done(), !held_out);
    if (held_out) continue;
    EXPECT_EQ(c.decisions().back().action, Decision::stop);
    EXPECT_EQ(c.decisions().back().reason, "the mean training loss reached the target");
  }
}

TEST(Controllers, RefuseOptionsThatCannotBe) {
  const auto refused = [](auto change) {
    ControlOptions options = to_target(1.5);
    change(options);
    try {
      Controller c(options);
    } catch (const InvalidArgument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(refused([](auto& o) { o.target = NAN; }).find("target is nan"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.budget = 0; }).find("budget is 0"), std::string::npos);
  EXPECT_NE(refused([](auto& o) { o.warmup = -1; }).find("warmup is -1"), std::string::npos);
  EXPECT_EQ(refused([](auto& o) { o.target = -1; }), "") << "losses may be negative";
}

}  // namespace
}  // namespace kolmo::predict
