#include "kolmo/predict/decide/store_standing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "kolmo/base/error.hpp"
#include "kolmo/predict/decide/arena.hpp"
#include "kolmo/predict/forecast/forecasters.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/predict/curves.hpp"
#include "tests/predict/fake_forecaster.hpp"
#include "tests/predict/simulated_runs.hpp"

namespace kolmo::predict {
namespace {

const TrainingOptions quick{.members = 2, .hidden = 8, .epochs = 2, .threads = 1};

class StoreStandingTest : public testing::Test {
 protected:
  RunStore stored(const std::vector<PastRun>& runs, const std::string& name = "store") {
    train_store(runs, parent_ / name, quick);
    return RunStore::open(parent_ / name);
  }
  testing_io::TemporaryFolder parent_;
};

/// 20 blocks whose log loss changes by `step` from each to the next.
PastRun straight(const std::string& name, double step) {
  TrainingLog log(1);
  for (int t = 0; t < 20; ++t) log.append({.step = t + 1, .loss = std::exp(step * t), .rate = 1});
  return {name, log.blocks()};
}

// Origins after 10 and 15 blocks; persistence says log((e^-d + 1) / 2) for a change of d, so it errs by h d less that. The noise is the
// median of |d|, times 1.4826 / sqrt 2.
TEST_F(StoreStandingTest, OfPersistenceIsRightByHand) {
  const StoreStanding standing = judge(stored({straight("a", .01), straight("b", -.01)}));
  EXPECT_EQ(standing.runs, 2u);
  const StoreStanding::Of* of = standing.find("persistence");
  ASSERT_TRUE(of);
  const double unit = .01 * 1.4826 / std::sqrt(2.);
  const auto error = [&](double d, double h) { return (h * d - std::log((std::exp(-d) + 1) / 2)) / unit; };
  std::vector<PastError> errors;
  for (std::size_t i = 0; i < standing_horizons().size(); ++i) {
    const std::size_t h = standing_horizons()[i], origins = h > 5 ? 1 : 2;
    ASSERT_EQ(of->errors[i].size(), 2 * origins) << h;
    std::vector<float> found = of->errors[i];  // runs are in no order
    std::sort(found.begin(), found.end());
    for (std::size_t k = 0; k < 2 * origins; ++k) {
      const double e = error(k < origins ? -.01 : .01, double(h));
      EXPECT_NEAR(found[k], e, 1e-6 * std::fabs(e)) << h;  // kept as float
      if (h == 1) errors.push_back({e});
    }
  }
  const Quantiles quantiles = error_quantiles(errors, 4);
  double crps = 0;
  for (const PastError& e : errors) crps += unit * crps_of(quantiles, e.error) / 4;
  EXPECT_NEAR(of->crps[0], crps, 1e-9);
  EXPECT_EQ(of->relative, 1);
  EXPECT_EQ(standing.prior, GainPrior()) << "no rate fell";
}

TEST_F(StoreStandingTest, LearnsTheGainOfDecaysFromRunsThatHadOne) {
  std::vector<PastRun> runs;
  for (int i = 0; i < 6; ++i)
    runs.push_back(
        {"run " + std::to_string(i),
         law_log(falling_rates(800, 400, 100, 0), .002, std::uint64_t(i) + 1, {.gain = .5}).blocks()});
  const StoreStanding standing = judge(stored(runs));
  LawSteps law{.gain = .5};
  for (const double rate : falling_rates(800, 400, 100, 0)) law.next(rate);
  const double without = law.next(0);
  EXPECT_NEAR(standing.prior.median, .5 / (.5 + without), .01);
  EXPECT_LT(standing.prior.high - standing.prior.low, .03);
  const StoreStanding again = StoreStanding::parse(standing.text(), "text");
  EXPECT_EQ(again.text(), standing.text());
  EXPECT_EQ(again.prior, standing.prior);
}

TEST_F(StoreStandingTest, DoesNotDependOnTheOrderOfRuns) {
  std::vector<PastRun> runs;
  for (const Blocks& b : simulated::runs(6, 300)) runs.push_back({"run " + std::to_string(runs.size()), b});
  const RunStore one = stored(runs, "one");
  std::rotate(runs.begin(), runs.begin() + 2, runs.end());
  std::swap(runs[0], runs[3]);
  const RunStore other = stored(runs, "other");
  EXPECT_EQ(one.model()->members(), other.model()->members());
  EXPECT_EQ(judge(one).text(), judge(other).text());
}

TEST_F(StoreStandingTest, AnEnsembleThatHasHardlyLearnedIsNotAdmitted) {
  std::vector<PastRun> runs;
  for (const Blocks& b : simulated::runs(8, 400)) runs.push_back({"run " + std::to_string(runs.size()), b});
  const StoreStanding standing = judge(stored(runs));
  EXPECT_FALSE(standing.admitted);
  EXPECT_GT(standing.difference[1][1], 0);
}

/// The standing of a store whose ensemble was right on past runs.
StoreStanding praise(bool admitted) {
  StoreStanding standing;
  StoreStanding::Of of{"learned", {.001, .001, .001}, .3, {}};
  for (std::size_t i = 0; i < standing_horizons().size(); ++i) of.errors.push_back({-1, -.5, 0, .5, 1});
  standing.forecasters.push_back(of), standing.admitted = admitted;
  return standing;
}
std::string driver(const StoreStanding& standing, double off, std::size_t steps) {
  const TrainingLog log = law_log(std::vector<double>(steps, 1.), .01, 3);
  Forecasters all;
  for (auto& f : simple_forecasters()) all.push_back(std::move(f));
  all.push_back(std::make_shared<Fake>("learned", [&](const Seen&, std::size_t) { return off; }));
  Arena arena(all, 10, 2, &standing);
  arena.update(log);
  return arena.forecast(log, Plan::hold(), 10).driver;
}

TEST(Driving, AnEnsembleThatIsNotAdmittedDoesNotDrive) {
  EXPECT_EQ(driver(praise(true), .6, 120), "learned");
  EXPECT_THAT(driver(praise(false), .6, 120), testing::Ne("learned"));
}

// Admitted for its past runs, it forecasts a training of another kind, whose log loss is near .6, by 2: its own past takes the wheel from it.
TEST(Driving, AnEnsembleThatLosesOnThisTrainingDoesNotDrive) {
  EXPECT_EQ(driver(praise(true), 2, 120), "learned") << "nothing is known of this training yet";
  EXPECT_THAT(driver(praise(true), 2, 1500), testing::Ne("learned"));
}

// On a training unlike past runs their praise of the ensemble does not count, until its own past on this log does.
TEST(Driving, OnATrainingUnlikePastRunsAnEnsembleMustProveItself) {
  const TrainingLog exact = law_log(std::vector<double>(3000, 1.));
  const StoreStanding standing = praise(true);
  const auto driver = [&](bool unlike, double off, std::size_t steps) {
    const TrainingLog log = law_log(std::vector<double>(steps, 1.), .01, 3);
    Forecasters all;
    for (auto& f : simple_forecasters()) all.push_back(std::move(f));
    const auto centre = [&](const Seen& seen, std::size_t i) {
      return std::log(exact.blocks().loss[seen.count + i]) + off;
    };
    all.push_back(std::make_shared<Fake>("learned", centre, 0, unlike));
    Arena arena(all, 10, 2, &standing);
    arena.update(log);
    return arena.forecast(log, Plan::hold(), 10).driver;
  };
  EXPECT_EQ(driver(false, 0, 120), "learned");
  EXPECT_THAT(driver(true, 0, 120), testing::Ne("learned")) << "nothing is known of this training yet";
  EXPECT_EQ(driver(true, 0, 2500), "learned") << "it was better than the laws on this training";
  EXPECT_THAT(driver(true, .02, 2500), testing::Ne("learned"));
}

TEST(Bootstrap, OfTheMeanIsThatOfANormal) {
  std::vector<double> values;
  for (int i = 0; i < 400; ++i) values.push_back(i % 2 ? 1 : -1);
  // The deviation of the mean is 1 / 20; an end of 2000 draws has an error of .0028.
  const auto [low, high] = bootstrap_mean(values);
  EXPECT_NEAR(low, -1.96 / 20, .012);
  EXPECT_NEAR(high, 1.96 / 20, .012);
  EXPECT_TRUE(std::isnan(bootstrap_mean({})[0]));
}

}  // namespace
}  // namespace kolmo::predict
