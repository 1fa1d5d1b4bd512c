#include "kolmo/predict/decide/arena.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "kolmo/base/error.hpp"
#include "kolmo/predict/analysis/forecast.hpp"
#include "tests/predict/curves.hpp"

namespace kolmo::predict {
namespace {

using testing::HasSubstr;

ForecastResult forecast(const TrainingLog& log, const std::string& plan, std::int64_t horizon = 100) {
  ForecastRequest request;
  request.plan = plan, request.horizon = horizon;
  return forecast_log(log, request);
}

double width(const ForecastResult& r, std::size_t i) {
  return std::log(r.forecast.quantiles[i].back() / r.forecast.quantiles[i].front());
}

TEST(Arena, ExactLawIsForecastToAMillionthByTheLaw) {
  const std::vector<double> rates = falling_rates(1200, 500, 100, .4);
  const ForecastResult r = forecast(law_log(rates), "decay@now:100", 200);
  EXPECT_EQ(r.forecast.driver, "lag_law");
  LawSteps law;
  for (const double rate : rates) law.next(rate);
  for (int b = 0; b < 20; ++b) {
    double mean = 0;
    for (int i = 1; i <= 10; ++i) mean += law.next(.4 * std::max(0., 1 - (10 * b + i - 1) / 100.)) / 10;
    EXPECT_NEAR(r.forecast.median[std::size_t(b)], mean, 1e-6 * mean) << "block " << b;
  }
}

TEST(Arena, IntervalWidensOverTheUnknownGain) {
  const TrainingLog constant = law_log(std::vector<double>(800, 1.), .01, 3);
  const ForecastResult hold = forecast(constant, "hold"), decay = forecast(constant, "decay@now:50");
  EXPECT_NEAR(width(decay, 0), width(hold, 0), .3 * width(hold, 0));
  EXPECT_GT(width(decay, 9), .11);  // from 3 to 16 % of the loss
  EXPECT_LT(width(hold, 9), .05);
  // A run that has seen a decay knows better.
  const TrainingLog seen = law_log(falling_rates(800, 400, 100, .2), .01, 3);
  EXPECT_LT(width(forecast(seen, "decay@now:50"), 9), .06);
}

TEST(Arena, CoversSimulatedCurves) {
  // 90 % intervals at 1, 5 and 10 blocks cover 88 to 92 % of 600 values, whose binomial deviation is 1.2 %.
  std::array<double, 3> covered{};
  constexpr int runs = 200;
  for (int run = 0; run < runs; ++run) {
    const std::vector<double> rates(1000, 1.);
    const TrainingLog whole = law_log(rates, .05, std::uint64_t(run) + 1, {.exponent = .3 + .001 * run});
    TrainingLog log;
    for (std::size_t t = 0; t < 900; ++t) log.append(whole.rows()[t]);
    const ForecastResult r = forecast(log, "hold");
    const std::size_t horizons[] = {1, 5, 10};
    for (std::size_t j = 0; j < 3; ++j) {
      const Quantiles& q = r.forecast.quantiles[horizons[j] - 1];
      const double came = whole.blocks().loss[90 + horizons[j] - 1];
      covered[j] += (q.front() <= came && came <= q.back()) / double(runs);
    }
  }
  const double mean = (covered[0] + covered[1] + covered[2]) / 3;
  EXPECT_GE(mean, .88) << covered[0] << " " << covered[1] << " " << covered[2];
  EXPECT_LE(mean, .92) << covered[0] << " " << covered[1] << " " << covered[2];
}

// In the steep part of a curve a trend of log loss wins at short horizons, and would go on for ever.
TEST(Arena, ALawDrivesFarAhead) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const TrainingLog whole = law_log(std::vector<double>(2000, 1.), .01, seed);
    TrainingLog log;
    for (std::size_t t = 0; t < 1000; ++t) log.append(whole.rows()[t]);
    const ForecastResult r = forecast(log, "hold", 1000);
    EXPECT_THAT(r.forecast.driver, HasSubstr("law")) << seed;
    const double came = whole.blocks().loss.back();
    EXPECT_NEAR(std::log(r.forecast.median.back() / came), 0, .05) << seed;
    EXPECT_LE(r.forecast.quantiles.back().front(), came) << seed;
    EXPECT_GE(r.forecast.quantiles.back().back(), came) << seed;
  }
}

// Power laws without a floor are forecast for as many steps again as were seen. The damped trend flattens and the law is right, so that
// their mean is off by half of their distance. 80 % intervals hold at least 75 % of the 80 values; those of past errors alone hold none.
TEST(Arena, AMeanOfPartsIsAsWideFarAheadAsTheyAreApart) {
  ForecastRequest request;
  request.forecaster = "lag_law_and_trend";
  int held = 0;
  for (int run = 0; run < 80; ++run) {
    const std::size_t seen = 300 + std::size_t(run) * 10;
    const TrainingLog whole =
        law_log(std::vector<double>(2 * seen, 1.), .01 + .0002 * run, std::uint64_t(run) + 1,
                {.floor = 0, .exponent = .25 + .005 * run, .gain = 0});
    TrainingLog log;
    for (std::size_t t = 0; t < seen; ++t) log.append(whole.rows()[t]);
    request.horizon = std::int64_t(seen);
    const Quantiles q = forecast_log(log, request).forecast.quantiles.back();
    const double came = whole.blocks().loss.back();
    held += q[1] <= came && came <= q[17];
  }
  EXPECT_GE(held, 60);
}

TEST(Arena, WhiteNoiseHasNoTrend) {
  TrainingLog log;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(2, .1);
  for (int t = 1; t <= 1000; ++t) log.append({.step = t, .loss = normal(random), .rate = 1});
  const ForecastResult r = forecast(log, "hold");
  EXPECT_NEAR(r.forecast.median.back(), 2, .04);
  for (std::size_t i = 1; i < 10; ++i) EXPECT_LT(width(r, i), .12);  // a block has deviation .016
}

TEST(Arena, RefusesWhatCannotBeForecast) {
  const auto message = [](const TrainingLog& log) {
    try {
      forecast(log, "hold");
    } catch (const InvalidArgument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(message(law_log(std::vector<double>(30, 1.))), HasSubstr("3 full blocks of 10 steps"));
  TrainingLog negative;
  for (int t = 1; t <= 100; ++t) negative.append({.step = t, .loss = t == 55 ? -100 : 1., .rate = 1});
  EXPECT_THAT(message(negative), HasSubstr("block 5"));
  TrainingLog exploded = law_log(std::vector<double>(100, 1.));
  for (int t = 101; t <= 130; ++t) exploded.append({.step = t, .loss = INFINITY, .rate = 1});
  EXPECT_THAT(message(exploded), HasSubstr("since step 101"));
}

TEST(Arena, LossesThatExplodeAndComeBackAreForecast) {
  TrainingLog log = law_log(std::vector<double>(300, 1.), .02, 1);
  for (int t = 301; t <= 320; ++t) log.append({.step = t, .loss = t < 311 ? INFINITY : 1e6, .rate = 1});
  LawSteps law;
  law.sum = 300, law.lag = 1;
  for (int t = 321; t <= 500; ++t) log.append({.step = t, .loss = law.next(1), .rate = 1});
  const ForecastResult r = forecast(log, "hold");
  EXPECT_NEAR(r.forecast.median.back(), law.next(1), .1);
  EXPECT_THAT(r.notes, testing::Contains(HasSubstr("10 steps have a loss that is no finite number")));
}

TEST(Arena, TimeToATargetHasAnInterval) {
  const TrainingLog log = law_log(std::vector<double>(600, 1.), .01, 2);
  ForecastRequest request;
  LawSteps law;
  for (int t = 1; t <= 900; ++t) law.next(1);
  request.target = law.next(1);
  const ForecastResult r = forecast_log(log, request);
  ASSERT_TRUE(r.time && r.time->median && r.time->low);
  EXPECT_LE(*r.time->low, 901);
  EXPECT_GE(r.time->high.value_or(INT64_MAX), 901);
  EXPECT_NEAR(double(*r.time->median), 900, 250);
  EXPECT_FALSE(time_to(r.forecast, .1).low);
}

TEST(Arena, OnLineItIsTheSameAsAtOnce) {
  const TrainingLog whole = law_log(falling_rates(700, 300, 100, .3), .03, 5);
  Competitors competitors("");
  Arena grown(competitors.forecasters, 10, 2), at_once(competitors.forecasters, 10, 2);
  TrainingLog log;
  for (const LogRow& row : whole.rows()) log.append(row), grown.update(log);
  at_once.update(whole);
  EXPECT_EQ(grown.forecast(log, Plan::hold(), 10).quantiles,
            at_once.forecast(whole, Plan::hold(), 10).quantiles);
}

TEST(Arena, AForecasterMayBeNamed) {
  const TrainingLog log = law_log(std::vector<double>(300, 1.), .03, 5);
  ForecastRequest request;
  request.forecaster = "power_law";
  EXPECT_EQ(forecast_log(log, request).forecast.driver, "power_law");
  request.forecaster = "power";
  EXPECT_THROW(forecast_log(log, request), InvalidArgument);
}

}  // namespace
}  // namespace kolmo::predict
