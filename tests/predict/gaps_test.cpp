// Logs with gaps: what no one measured is neither fitted nor scored.
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "kolmo/predict/analysis/backtest.hpp"
#include "kolmo/predict/analysis/forecast.hpp"
#include "kolmo/predict/forecast/forecasters.hpp"
#include "kolmo/predict/model/run_store.hpp"
#include "tests/io/temporary_folder.hpp"

namespace kolmo::predict {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr double noise = .02;  // of a step

/// Losses of a power law, the steps after `first` of which none of `gap` is in the log.
std::vector<LogRow> rows_with_gap(std::int64_t steps, std::int64_t first, std::int64_t gap) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<LogRow> rows;
  for (std::int64_t step = 1; step <= steps; ++step)
    rows.push_back({.step = step <= first ? step : step + gap,
                    .loss = (1.5 + 4 / std::sqrt(double(step))) * std::exp(noise * normal(random)),
                    .rate = 1});
  return rows;
}

TEST(Gaps, IntervalsAreThoseOfTheNoise) {
  for (const std::int64_t gap : {300, 600, 50000}) {
    const ForecastResult r = forecast_log(log_of(rows_with_gap(1400, 700, gap)), {.horizon = 100});
    for (std::size_t i = 0; i < r.forecast.step.size(); ++i) {
      const Quantiles& q = r.forecast.quantiles[i];
      // A mean of 10 steps has a noise of .0063, so 90 % lie within .021; a trend and 18 independent errors at 100 steps add to that.
      const double width = std::log(q.back() / q.front());
      EXPECT_GT(width, .012) << gap << ", block " << i;
      EXPECT_LT(width, .1) << gap << ", block " << i;
    }
    EXPECT_NEAR(r.forecast.median.back(), 1.5 + 4 / std::sqrt(1500.), .05) << gap;
    EXPECT_THAT(r.notes, Contains(HasSubstr("blocks of 10 steps have no loss"))) << gap;
  }
}

TEST(Gaps, OnlyBlocksWithALossAreOriginsAndScored) {
  // 60 blocks without 21 to 40. Origins are 10, 12, ..., 20 and 41, 43, ..., 49; of those before the gap, 20 has no next block, and
  // but 10 none has a 10th.
  const ForecastResult r = forecast_log(log_of(rows_with_gap(400, 200, 200)), {.horizon = 100});
  std::size_t seen = 0;
  for (const Standing& s : r.standings) {
    if (s.forecaster != "persistence" || (s.horizon != 1 && s.horizon != 10)) continue;
    EXPECT_EQ(s.score.count, s.horizon == 1 ? 10u : 6u);
    ++seen;
  }
  EXPECT_EQ(seen, 2u);
}

TEST(Gaps, AreNoPartOfABacktest) {
  // There are 60 blocks, and those from 21 to 40 have no loss. The origins are 10, 15, 20, 41 and 46: after 51 fewer than 10 blocks follow.
  Forecasters all;
  for (auto& f : simple_forecasters()) all.push_back(std::move(f));
  const BacktestResult r = backtest({{{"run", log_of(rows_with_gap(400, 200, 200))}}, {}}, all);
  EXPECT_EQ(r.origins, 5u);
}

TEST(Gaps, StayInAStoreAndAreNotLearnedFrom) {
  const Blocks blocks = log_of(rows_with_gap(800, 300, 400)).blocks();
  EXPECT_THAT(stretches(blocks), ElementsAre(Pair(0u, 30u), Pair(70u, 120u)));
  const Blocks* const run = &blocks;
  for (const Windows::Run& stretch : Windows({&run, 1}).runs)
    EXPECT_TRUE(stretch.blocks() == 30 || stretch.blocks() == 50);
  const testing_io::TemporaryFolder folder;
  train_store({{"run", blocks}}, folder / "store", {.members = 1, .hidden = 4, .epochs = 1, .threads = 1});
  const RunStore store = RunStore::open(folder / "store");
  ASSERT_EQ(store.runs().size(), 1u);
  EXPECT_EQ(store.runs()[0].blocks.loss, blocks.loss);
  EXPECT_EQ(store.runs()[0].blocks.gaps, blocks.gaps);
  const Blocks torn = log_of(rows_with_gap(360, 180, 100)).blocks();
  EXPECT_FALSE(teaches({"run", torn})) << "no 20 blocks in a row";
}

}  // namespace
}  // namespace kolmo::predict
