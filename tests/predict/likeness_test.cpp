#include "kolmo/predict/model/likeness.hpp"

#include <gtest/gtest.h>

#include "kolmo/predict/analysis/forecast.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/predict/curves.hpp"
#include "tests/predict/simulated_runs.hpp"

namespace kolmo::predict {
namespace {

Blocks of_losses(std::vector<double> losses) {
  Blocks blocks;
  blocks.loss = std::move(losses);
  return blocks;
}
/// A training whose loss is e^first in 5 blocks, and then e^latest in 5 blocks.
Blocks of_levels(double first, double latest) {
  std::vector<double> losses(5, std::exp(first));
  losses.insert(losses.end(), 5, std::exp(latest));
  return of_losses(losses);
}
bool unlike(const Likeness& likeness, const Blocks& training) {
  return likeness.unlike({training, training.loss.size()});
}
/// 20 runs whose logarithms of losses are 0, .1, ... 1.9 throughout.
std::vector<Blocks> steady(std::size_t count) {
  std::vector<Blocks> runs;
  for (std::size_t i = 0; i < count; ++i) runs.push_back(of_levels(.1 * double(i), .1 * double(i)));
  return runs;
}
Likeness likeness_of(const std::vector<Blocks>& runs) {
  std::vector<const Blocks*> all;
  for (const Blocks& b : runs) all.push_back(&b);
  return Likeness(all);
}

// The third nearest other run is 2 steps away for 16 of the runs, and 3 steps for the 2 at either end, next to the end or at it:
// the 95 % quantile of 20 is the 19th.
TEST(Likeness, IsThatOfTheThirdNearestRun) {
  const std::vector<Blocks> runs = steady(20);
  const Likeness likeness = likeness_of(runs);
  ASSERT_EQ(likeness.limits().size(), 2u);
  const double deviation = .1 * std::sqrt((20. * 20 - 1) / 12);
  EXPECT_NEAR(likeness.limits()[1], .3 * std::sqrt(2.) / deviation, 1e-5);
  EXPECT_FALSE(unlike(likeness, of_levels(1.95, 1.95))) << ".25 from the third nearest";
  EXPECT_TRUE(unlike(likeness, of_levels(2.05, 2.05))) << ".35 from the third nearest";
  EXPECT_FALSE(unlike(likeness, of_levels(.55, .55)));
  EXPECT_TRUE(unlike(likeness, of_levels(.5, 1.5)))
      << "as low as theirs and as high as theirs, but not after each other";
}

TEST(Likeness, SaysNothingOfTooFewRunsOrBlocks) {
  EXPECT_FALSE(unlike(likeness_of(steady(19)), of_levels(9, 9)));
  EXPECT_FALSE(unlike(Likeness(), of_levels(9, 9)));
  EXPECT_FALSE(unlike(likeness_of(steady(20)), of_losses(std::vector<double>(9, 1e4))))
      << "its second 5 blocks are not full";
}

TEST(Likeness, ALongerTrainingIsComparedWhereRunsWereLastAndGapsAreLeftOut) {
  const std::vector<Blocks> runs = steady(20);
  const Likeness likeness = likeness_of(runs);
  Blocks longer = of_levels(.5, .5);
  longer.loss.resize(40, std::exp(9.));
  EXPECT_FALSE(unlike(likeness, longer));
  Blocks gap = of_levels(.5, .5);
  for (std::size_t i = 6; i < 10; ++i) gap.loss[i] = std::nan(""), gap.gaps.push_back(i);
  EXPECT_FALSE(unlike(likeness, gap)) << "one of the latest 5 blocks has a loss";
}

// Through kolmo forecast --store. The loss of the second training is a hundred times that of the first.
TEST(Likeness, AnUnlikeTrainingIsNotedAndHasASimpleDriver) {
  const testing_io::TemporaryFolder parent;
  std::vector<PastRun> runs;
  for (const Blocks& b : simulated::runs(20, 300)) runs.push_back({"run " + std::to_string(runs.size()), b});
  const std::string store = parent / "store";
  train_store(runs, store, {.members = 2, .hidden = 8, .epochs = 2, .threads = 1});
  StoreStanding standing = judge(RunStore::open(store));
  standing.admitted = true;
  for (StoreStanding::Of& of : standing.forecasters)
    if (of.forecaster == "recurrent_ensemble") of.relative = .01;
  write_standing(store, standing);
  const auto forecast = [&](double scale) {
    std::vector<LogRow> rows = simulated::Run{.steps = 150, .seed = 3}.rows();
    for (LogRow& row : rows) row.loss *= scale;
    ForecastRequest request;
    request.store = store;
    return forecast_log(log_of(rows), request);
  };
  const ForecastResult like = forecast(1), unlike = forecast(100);
  EXPECT_EQ(like.forecast.driver, "recurrent_ensemble");
  EXPECT_TRUE(like.notes.empty());
  EXPECT_NE(unlike.forecast.driver, "recurrent_ensemble");
  EXPECT_TRUE(unlike.forecast.unlike_past);
  ASSERT_EQ(unlike.notes.size(), 1u);
  EXPECT_NE(unlike.notes[0].find("unlike the runs of the store"), std::string::npos);
}

}  // namespace
}  // namespace kolmo::predict
