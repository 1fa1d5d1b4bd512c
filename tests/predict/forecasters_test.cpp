#include "kolmo/predict/forecast/forecasters.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "kolmo/predict/forecast/law.hpp"
#include "kolmo/predict/forecast/plan.hpp"

namespace kolmo::predict {
namespace {

struct ExactLaw {
  double floor = 1.5, amplitude = 2.5, exponent = .437, gain = .21, tau = 23;
  /// Appends steps with these rates, whose losses are exactly those of the law, step by step.
  struct State {
    double sum = 0, lag = NAN;
    std::int64_t step = 0;
  } state{};
  double next(double rate) {
    const double d = std::exp(-1 / tau);
    state.lag = std::isnan(state.lag) ? rate : d * state.lag + (1 - d) * rate;
    state.sum += rate, ++state.step;
    return floor + amplitude * std::pow(state.sum, -exponent) + gain * state.lag;
  }
};

std::vector<double> decay_then_hold(std::int64_t steps, std::int64_t at, std::int64_t length, double end) {
  std::vector<double> rates;
  for (std::int64_t t = 1; t <= steps; ++t)
    rates.push_back(1 - (1 - end) * std::clamp(double(t - at) / double(length), 0., 1.));
  return rates;
}

TEST(LagLaw, ExactDataAreForecastToAMillionth) {
  // A decay to .4 was seen; then the rate goes on to fall.
  std::vector<double> rates = decay_then_hold(1000, 600, 100, .4);
  ExactLaw exact;
  TrainingLog log;
  for (const double r : rates) log.append({.step = exact.state.step + 1, .rate = r}), (void)exact;
  exact = ExactLaw();
  TrainingLog seen;
  for (const double r : rates) {
    const double loss = exact.next(r);
    seen.append({.step = exact.state.step, .loss = loss, .rate = r});
  }
  const Plan plan = Plan::decay(0, 200);
  const RateBlocks planned = planned_blocks(seen, plan, 30);
  const Law law = fit_law({seen.blocks(), seen.blocks().loss.size()}, LawTerms::lag);
  EXPECT_NEAR(law.floor, exact.floor, 1e-4);
  EXPECT_NEAR(law.gain, exact.gain, 1e-4);
  EXPECT_NEAR(law.tau, exact.tau, 1e-2);
  const std::vector<double> loss = law.after(planned, 10).loss;
  const std::vector<double> to_come = plan.after(1000, rates.back(), 300);
  for (std::size_t b = 0; b < loss.size(); ++b) {
    double mean = 0;
    for (std::size_t i = 0; i < 10; ++i) mean += exact.next(to_come[10 * b + i]) / 10;
    EXPECT_NEAR(loss[b], mean, 1e-6 * mean) << "block " << b;
  }
}

}  // namespace
}  // namespace kolmo::predict
