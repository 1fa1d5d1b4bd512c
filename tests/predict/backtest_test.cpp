#include "kolmo/predict/analysis/backtest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/base/error.hpp"
#include "kolmo/predict/forecast/forecasters.hpp"
#include "tests/predict/curves.hpp"
#include "tests/predict/fake_forecaster.hpp"

namespace kolmo::predict {
namespace {
using testing::HasSubstr;

Forecasters simple() {
  Forecasters all;
  for (auto& f : simple_forecasters()) all.push_back(std::move(f));
  return all;
}
Run constant(double loss, int blocks = 40) {
  Run run{"constant " + std::to_string(loss), TrainingLog()};
  for (int t = 1; t <= 10 * blocks; ++t) run.log.append({.step = t, .loss = loss, .rate = 1});
  return run;
}
const BacktestRow& row_of(const BacktestResult& r, const std::string& name, std::int64_t horizon) {
  for (const BacktestRow& row : r.rows)
    if (row.forecaster == name && row.horizon == horizon) return row;
  throw std::runtime_error("no row of " + name);
}

TEST(Backtest, ConstantLossesAreRightByHand) {
  // 40 blocks have origins after 10, 15, 20, 25 and 30, after which 10 blocks come. Shorter ones have none.
  const BacktestResult r = backtest({{constant(1), constant(3), constant(2), constant(5, 19)}, {}}, simple());
  EXPECT_EQ(r.runs, 3u);
  EXPECT_EQ(r.origins, 15u);
  for (const std::string name : {"driver", "persistence", "lag_law"})
    for (const int horizon : {10, 50, 100}) {
      const BacktestRow& row = row_of(r, name, horizon);
      EXPECT_EQ(row.runs, 3u);
      EXPECT_EQ(row.coverage, 1);
      EXPECT_LT(row.crps, 1e-5) << name;  // the noise is 1e-6 at least
    }
  for (const RankRow& rank : r.ranks) EXPECT_NEAR(rank.spearman, 1, 1e-12) << rank.forecaster;
}

// Losses alternate between 1 and e^.2; the quantiles of an error that is always -.2 below or above are no matter: persistence is off by .1 at
// each odd block. A forecaster that knows what comes is exact, and drives when its store admits it, and only then.
TEST(Backtest, TheOneThatIsAdmittedAndKnowsDrives) {
  std::vector<predict::Run> runs;
  for (int k = 0; k < 4; ++k) {
    predict::Run run{"run " + std::to_string(k), TrainingLog()};
    for (int t = 0; t < 600; ++t)
      run.log.append({.step = t + 1, .loss = std::exp(.2 * (t / 10 % 2)), .rate = 1});
    runs.push_back(std::move(run));
  }
  Forecasters all = simple();
  all.push_back(std::make_shared<Fake>(
      "clairvoyant", [](const Seen& seen, std::size_t i) { return .2 * double((seen.count + i) % 2); }));
  StoreStanding standing;
  standing.forecasters.push_back({"clairvoyant", {0, 0, 0}, .1, {}});
  standing.forecasters.back().errors.resize(standing_horizons().size(), {-.01F, 0, .01F});
  standing.admitted = true;
  const BacktestResult r = backtest({runs, {}}, all, &standing);
  for (const int horizon : {10, 50, 100}) {
    const double exact = row_of(r, "clairvoyant", horizon).crps;
    EXPECT_LT(exact, .05);
    EXPECT_EQ(row_of(r, "driver", horizon).crps, exact);
    EXPECT_GT(row_of(r, "persistence", horizon).crps, 2 * exact);
    EXPECT_GT(row_of(r, "persistence", horizon).against_driver[0], 0);
    EXPECT_EQ(row_of(r, "driver", horizon).against_driver[1], 0);
  }
  standing.admitted = false;
  const BacktestResult without = backtest({runs, {}}, all, &standing);
  EXPECT_GT(row_of(without, "driver", 10).crps, 2 * row_of(without, "clairvoyant", 10).crps);
}

TEST(Backtest, CoversSimulatedTrainings) {
  // 60 runs with 15 origins each, which do not overlap: a binomial deviation of 1 % at each horizon. Errors are few before the first
  // origins, whose intervals are wider.
  std::vector<predict::Run> runs;
  for (int k = 0; k < 60; ++k)
    runs.push_back(
        {"run " + std::to_string(k),
         law_log(std::vector<double>(2000, 1.), .05, std::uint64_t(k) + 500, {.exponent = .3 + .004 * k})});
  const BacktestResult r = backtest({runs, {}}, simple());
  double mean = 0;
  for (const int horizon : {10, 50, 100}) mean += row_of(r, "driver", horizon).coverage / 3;
  EXPECT_GE(mean, .88);
  EXPECT_LE(mean, .92);
}

TEST(Backtest, RefusesRunsThatAreTooShort) {
  try {
    backtest({{constant(1, 19)}, {}}, simple());
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_THAT(e.what(), HasSubstr("it has 19 blocks, and a backtest needs 20"));
  }
}

TEST(Backtest, LeavesOutRunsThatCannotBeForecast) {
  predict::Run below = constant(2);
  for (int t = 401; t <= 420; ++t) below.log.append({.step = t, .loss = -5, .rate = 1});
  below.name = "below";
  const BacktestResult r =
      backtest({{below, constant(1), constant(2), constant(3), constant(1, 19)}, {"read"}}, simple());
  EXPECT_EQ(r.runs, 3u);
  EXPECT_EQ(r.origins, 15u);
  EXPECT_THAT(r.notes,
              testing::ElementsAre("read", testing::AllOf(HasSubstr("below: "), HasSubstr("the loss is -5")),
                                   HasSubstr("it has 19 blocks")));
  for (const RankRow& rank : r.ranks) EXPECT_NEAR(rank.spearman, 1, 1e-12) << rank.forecaster;
}

TEST(Spearman, IsRightByHand) {
  EXPECT_NEAR(spearman({1, 2, 3, 4}, {1, 3, 2, 4}), .8, 1e-12);  // 1 - 6 (1 + 1) / (4 (16 - 1))
  EXPECT_NEAR(spearman({5, 3, 1}, {1, 2, 9}), -1, 1e-12);
  EXPECT_NEAR(spearman({1, 1, 2}, {1, 2, 3}), std::sqrt(.75), 1e-12);  // ranks .5 .5 2 and 0 1 2
  EXPECT_TRUE(std::isnan(spearman({1, 2}, {1, 2})));
}

}  // namespace
}  // namespace kolmo::predict
