#include "kolmo/predict/forecast/forecasters.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "kolmo/predict/forecast/lag.hpp"
#include "kolmo/predict/forecast/law.hpp"
#include "kolmo/predict/forecast/plan.hpp"
#include "tests/predict/curves.hpp"

namespace kolmo::predict {
namespace {

using testing::ElementsAre;

std::vector<double> means_to_come(LawSteps law, const std::vector<double>& rates, std::size_t blocks) {
  std::vector<double> means(blocks);
  for (std::size_t b = 0; b < blocks; ++b)
    for (std::size_t i = 0; i < 10; ++i) means[b] += law.next(rates[10 * b + i]) / 10;
  return means;
}

TEST(Lag, IsTheRecursionStepByStep) {
  Lag lag(7, 4);
  lag.begin(1);
  double s = 1;
  const double d = std::exp(-1 / 7.);
  for (int block = 0; block < 3; ++block) {
    double mean = 0;
    for (int i = 0; i < 4; ++i) s = d * s + (1 - d) * (.5 + .1 * (4 * block + i)), mean += s / 4;
    EXPECT_NEAR(lag.pass(.5 + .1 * (4 * block + 1.5), .1), mean, 1e-15);
    EXPECT_NEAR(lag.now(), s, 1e-15);
  }
}

TEST(LagLaw, ExactDataAreForecastToAMillionth) {
  const std::vector<double> rates = falling_rates(1000, 600, 100, .4);
  const TrainingLog log = law_log(rates);
  const Plan plan = Plan::decay(0, 200);
  const Law law = fit_law({log.blocks(), log.blocks().loss.size()}, LawTerms::lag);
  EXPECT_NEAR(law.floor, 1.5, 1e-4);
  EXPECT_NEAR(law.gain, .21, 1e-4);
  EXPECT_NEAR(law.tau, 23, 1e-2);
  EXPECT_GT(law.gain_known, .99);
  LawSteps steps;
  for (const double r : rates) steps.next(r);
  const std::vector<double> loss = law.after(planned_blocks(log, plan, 30), 10).loss;
  const std::vector<double> want = means_to_come(steps, plan.after(1000, rates.back(), 300), 30);
  for (std::size_t b = 0; b < 30; ++b) EXPECT_NEAR(loss[b], want[b], 1e-6 * want[b]) << "block " << b;
}

/// The momentum law of Tissue et al.: L0 + A S1^-alpha - C S2 with S2 the sum of m_t = lambda m_(t-1) + rate_(t-1) - rate_t. As
/// S2_t (1 - lambda) = rate_1 - s_t, it is the lag law with gain C / (1 - lambda) and a floor L0 - C rate_1 / (1 - lambda).
TEST(LagLaw, IsTheMomentumLaw) {
  const double lambda = std::exp(-1 / 23.), c = .21 * (1 - lambda);
  const std::vector<double> rates = falling_rates(400, 150, 120, .1);
  LawSteps law;
  double momentum = 0, area = 0, sum = 0, before = rates[0];
  for (const double rate : rates) {
    momentum = lambda * momentum + before - rate;
    area += momentum, sum += rate, before = rate;
    const double want = 1.5 + .21 * rates[0] + 2.5 * std::pow(sum, -.437) - c * area;
    EXPECT_NEAR(law.next(rate), want, 1e-12 * want);
  }
}

/// Multi-power law of Luo et al. and functional scaling law, as references: where all fall by the same gain at a long
/// decay, the lag law fitted to either forecasts what comes after it to a hundredth of the loss.
double multi_power(const std::vector<double>& rates, std::size_t t) {
  double sum = 0, fall = 0, after = 0;
  for (std::size_t k = 0; k <= t; ++k) sum += rates[k];
  for (std::size_t k = t; k > 0; --k) {
    after += rates[k];
    fall += (rates[k - 1] - rates[k]) *
            (1 - std::pow(1 + .05 * std::pow(std::max(rates[k], 1e-3), -.5) * after, -.6));
  }
  return 1.5 + 2.5 * std::pow(sum, -.437) - .2 * fall;
}
double functional_scaling(const std::vector<double>& rates, std::size_t t) {
  double sum = 0, noise = 0, after = 0;
  for (std::size_t k = 0; k <= t; ++k) sum += rates[k];
  for (std::size_t k = t + 1; k-- > 0;) {
    noise += rates[k] * rates[k] * std::pow(1 + after / 20, -1.8);
    after += rates[k];
  }
  return 1.4 + 2.5 * std::pow(sum, -.437) + .008 * noise;
}
TEST(LagLaw, FollowsTheOtherLawsOfLosses) {
  const std::vector<double> rates = falling_rates(1500, 700, 500, .1);
  for (const auto law : {multi_power, functional_scaling}) {
    TrainingLog log;
    for (std::size_t t = 0; t < 1200; ++t)
      log.append({.step = std::int64_t(t) + 1, .loss = law(rates, t), .rate = rates[t]});
    const RateBlocks planned = planned_blocks(log, Plan::hold(), 30);
    const std::vector<double> loss = fit_law({log.blocks(), 120}, LawTerms::lag).after(planned, 10).loss;
    for (std::size_t b = 0; b < 30; ++b)
      EXPECT_NEAR(loss[b] / law(rates, 1200 + 10 * b + 5), 1, .01) << "block " << b;
  }
}

TEST(LagLaw, ConstantRateTellsNothingOfTheGain) {
  const TrainingLog log = law_log(std::vector<double>(600, 1.));
  const Law law = fit_law({log.blocks(), 60}, LawTerms::lag);
  EXPECT_TRUE(law.gain_of_loss);
  EXPECT_EQ(law.gain_known, 0);
  const Law::Future hold = law.after(planned_blocks(log, Plan::hold(), 20), 10),
                    decay = law.after(planned_blocks(log, Plan::decay(0, 100), 20), 10);
  EXPECT_EQ(hold.gain_deviation.back(), 0);
  EXPECT_NEAR(decay.gain_deviation.back() / decay.loss.back(), GainPrior().deviation() / .89, .002);
  EXPECT_NEAR(decay.loss.back() / hold.loss[9], .89, .01);
}

TEST(Forecasters, AreRightByHand) {
  Blocks blocks;
  blocks.loss = {4, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
  for (int i = 0; i < 12; ++i)
    blocks.rate.push_back(1), blocks.slope.push_back(0), blocks.sum.push_back(10 * i + 5.5);
  blocks.averaged.assign(12, unknown), blocks.gradient_norm.assign(12, unknown);
  RateBlocks planned{{1, 1}, {0, 0}, {125.5, 135.5}};
  const auto all = simple_forecasters();
  EXPECT_EQ(all[0]->name(), "persistence");
  EXPECT_THAT(all[0]->centres({blocks, 2}, planned), ElementsAre(std::log(3.), std::log(3.)));
  for (const auto& f : all) {
    const Seen seen{blocks, 12};
    if (!f->able(seen)) continue;
    for (const double c : f->centres(seen, planned)) EXPECT_NEAR(c, std::log(2.), .05) << f->name();
    EXPECT_EQ(f->centres(seen, planned), f->centres(seen, planned)) << f->name();
  }
}

TEST(Forecasters, SeeNothingBeyondWhatWasSeen) {
  const std::vector<double> rates = falling_rates(600, 300, 100, .3);
  const TrainingLog log = law_log(rates, .02, 1);
  Blocks other = log.blocks();
  for (std::size_t i = 40; i < other.loss.size(); ++i)
    other.loss[i] = 1e9, other.rate[i] = 7, other.sum[i] = 1e9;
  const RateBlocks planned{{.3, .2}, {0, 0}, {log.blocks().sum[39] + 3, log.blocks().sum[39] + 5}};
  for (const auto& f : simple_forecasters())
    if (f->able({log.blocks(), 40})) {
      EXPECT_EQ(f->centres({log.blocks(), 40}, planned), f->centres({other, 40}, planned)) << f->name();
    }
}

TEST(Forecasters, AveragedWeightsSayWhatADecayReaches) {
  // Averaged weights are 10 % below; a decay to 0 arrives where they are.
  TrainingLog log;
  LawSteps law;
  for (int t = 1; t <= 500; ++t) {
    const double loss = law.next(1);
    log.append({.step = t, .loss = loss, .rate = 1, .averaged = t % 50 == 0 ? .9 * loss : unknown});
  }
  const Seen seen{log.blocks(), 50};
  for (const auto& f : simple_forecasters()) {
    if (f->name() != "averaged_weights") continue;
    ASSERT_TRUE(f->able(seen));
    const double decayed = std::exp(f->centres(seen, planned_blocks(log, Plan::decay(0, 100), 20)).back());
    EXPECT_NEAR(decayed, .9 * log.blocks().loss.back(), .02);
  }
}

}  // namespace
}  // namespace kolmo::predict
