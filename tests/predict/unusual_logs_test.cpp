// Logs with spikes, logs that begin at a large step, and targets that are reached: what a forecast and a decision make of them.
#include <gmock/gmock.h>

#include "kolmo/predict/analysis/forecast.hpp"
#include "kolmo/predict/report/training_report.hpp"
#include "tests/predict/curves.hpp"

namespace kolmo::predict {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// 1000 steps at a constant rate with a noise of 2 %. The loss of step `spike` is multiplied by `times`.
TrainingLog log_with_spike(std::int64_t spike, double times, std::int64_t first = 1) {
  const TrainingLog usual = law_log(std::vector<double>(1000, 1.), .02, 1);
  std::vector<LogRow> rows = usual.rows();
  for (LogRow& row : rows) {
    if (row.step == spike) row.loss *= times;
    row.step += first - 1;
  }
  return log_of(rows);
}

ForecastResult ahead(const TrainingLog& log) {
  ForecastRequest request;
  request.horizon = 50;
  return forecast_log(log, request);
}

double log_width(const Quantiles& q) { return std::log(q.back() / q.front()); }

TEST(UnusualLogs, ASpikeAtTheEndHardlyMovesTheForecastAndIsNoted) {
  const ForecastResult usual = ahead(log_with_spike(0, 1));
  EXPECT_THAT(usual.notes, Not(Contains(HasSubstr("spike"))));
  for (const double times : {10., 100.}) {
    const ForecastResult r = ahead(log_with_spike(1000, times));
    for (std::size_t i = 0; i < 5; ++i)
      EXPECT_NEAR(std::log(r.forecast.median[i] / usual.forecast.median[i]), 0, .02) << times;
    EXPECT_THAT(r.notes, Contains(HasSubstr("far outside their noise")));
  }
}

TEST(UnusualLogs, ASpikeWidensNoHorizonAlone) {
  for (const double times : {10., 100.}) {
    const ForecastResult r = ahead(log_with_spike(901, times));
    for (std::size_t i = 1; i < 5; ++i) {
      const double before = log_width(r.forecast.quantiles[i - 1]), here = log_width(r.forecast.quantiles[i]);
      EXPECT_LT(std::max(before, here) / std::min(before, here), 2) << times << ", block " << i;
    }
  }
}

TEST(UnusualLogs, DecisionsAndReportsCountTheStepsOfTheLog) {
  ForecastRequest request;
  request.decide = true, request.target = 1.7;
  const TrainingLog log = log_with_spike(0, 1), late = log_with_spike(0, 1, 1'000'000'001);
  const Decision d = *forecast_log(log, request).decision, of_late = *forecast_log(late, request).decision;
  EXPECT_EQ(d.action, of_late.action);
  EXPECT_EQ(d.length, of_late.length);
  EXPECT_EQ(d.reason, of_late.reason);
  EXPECT_EQ(of_late.step, 1'000'001'000);
  request.decide = false;
  const TrainingOutlook o = outlook(log, request, "log"), o_late = outlook(late, request, "log");
  ASSERT_EQ(o.decays.size(), o_late.decays.size());
  for (std::size_t i = 0; i < o.decays.size(); ++i) EXPECT_EQ(o.decays[i].length, o_late.decays[i].length);
}

TEST(UnusualLogs, ATargetThatIsReachedEndsTheTraining) {
  const TrainingLog log = log_with_spike(0, 1);
  ForecastRequest request;
  request.decide = true, request.target = recent_loss(log).loss;
  const ForecastResult r = forecast_log(log, request);
  EXPECT_EQ(r.decision->action, Decision::stop);
  EXPECT_THAT(r.decision->reason, HasSubstr("the mean loss of the last 50 steps reached the target"));
  EXPECT_THAT(r.notes, Contains(HasSubstr("reached already")));
  request.target = .99 * *request.target;
  EXPECT_NE(forecast_log(log, request).decision->action, Decision::stop);
}

TEST(UnusualLogs, LongLogsHaveLongerBlocks) {
  std::vector<LogRow> rows;
  for (std::int64_t step = 1; step <= 250'000; ++step) rows.push_back({.step = step, .loss = 1, .rate = 1});
  EXPECT_EQ(log_of(rows).length(), 25);
  EXPECT_EQ(log_of(rows, 10).length(), 10) << "as it was asked for";
  rows.resize(100'000);
  EXPECT_EQ(log_of(rows).length(), 10);
}

}  // namespace
}  // namespace kolmo::predict
