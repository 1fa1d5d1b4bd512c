#include "kolmo/predict/decide/likeness.hpp"

#include <gtest/gtest.h>

#include "kolmo/predict/analysis/forecast.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/predict/curves.hpp"
#include "tests/predict/simulated_runs.hpp"

namespace kolmo::predict {
namespace {

std::vector<SpreadAt> spreads_at(std::size_t seen, int count, double step) {
  std::vector<SpreadAt> all;
  for (int i = 1; i <= count; ++i) all.push_back({seen, step * i});
  return all;
}

// The 95 % quantile of 21 spreads is the 20th; the third stage has too few of its own.
TEST(Likeness, LimitsAreQuantilesOfEachStage) {
  std::vector<SpreadAt> all = spreads_at(10, 11, .1);
  for (const SpreadAt& s : spreads_at(19, 10, .1)) all.push_back({s.seen, s.spread + 1.1});
  for (const SpreadAt& s : spreads_at(39, 21, .01)) all.push_back(s);
  all.push_back({40, 5});
  const Likeness likeness(all);
  ASSERT_EQ(likeness.limits().size(), 3u);
  EXPECT_DOUBLE_EQ(likeness.limits()[0], 2.0);
  EXPECT_DOUBLE_EQ(likeness.limits()[1], .2);
  EXPECT_DOUBLE_EQ(likeness.limits()[2], .2);
}

TEST(Likeness, MoreThanAFifthAboveTheLimitIsUnlike) {
  const Likeness likeness = Likeness::of_limits({.1, .01});
  using Training = std::vector<SpreadAt>;
  EXPECT_TRUE(likeness.unlike(Training{{10, .2}}));
  EXPECT_FALSE(likeness.unlike(Training{{10, .1}}));
  EXPECT_TRUE(likeness.unlike(Training{{20, .1}})) << "the limit of its stage";
  EXPECT_TRUE(likeness.unlike(Training{{500, .1}})) << "the last limit";
  EXPECT_FALSE(likeness.unlike(Training{{10, .2}, {11, .1}, {12, .1}, {13, .1}, {14, .1}}));
  EXPECT_TRUE(likeness.unlike(Training{{10, .2}, {11, .2}, {12, .1}, {13, .1}, {14, .1}}));
  EXPECT_FALSE(likeness.unlike({}));
  EXPECT_FALSE(Likeness().unlike(Training{{10, 9}})) << "a store that is too small says nothing";
}

// Through kolmo forecast --store: the same ensemble, once with limits below what it shows here, once above.
TEST(Likeness, AnUnlikeTrainingIsNotedAndHasASimpleDriver) {
  const testing_io::TemporaryFolder parent;
  std::vector<PastRun> runs;
  for (const Blocks& b : simulated::runs(4, 300)) runs.push_back({"run " + std::to_string(runs.size()), b});
  const std::string store = parent / "store";
  train_store(runs, store, {.members = 2, .hidden = 8, .epochs = 2, .threads = 1});
  StoreStanding standing = judge(RunStore::open(store));
  standing.admitted = true;
  for (StoreStanding::Of& of : standing.forecasters)
    if (of.forecaster == "recurrent_ensemble") of.relative = .01;
  const TrainingLog log = law_log(std::vector<double>(150, 1.), .01, 3);
  const auto forecast = [&](double limit) {
    standing.likeness = Likeness::of_limits({limit});
    write_standing(store, standing);
    ForecastRequest request;
    request.store = store;
    return forecast_log(log, request);
  };
  const ForecastResult unlike = forecast(0), like = forecast(100);
  EXPECT_NE(unlike.forecast.driver, "recurrent_ensemble");
  EXPECT_TRUE(unlike.forecast.unlike_past);
  ASSERT_EQ(unlike.notes.size(), 1u);
  EXPECT_NE(unlike.notes[0].find("unlike the runs of the store"), std::string::npos);
  EXPECT_EQ(like.forecast.driver, "recurrent_ensemble");
  EXPECT_TRUE(like.notes.empty());
}

}  // namespace
}  // namespace kolmo::predict
