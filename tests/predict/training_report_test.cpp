#include "kolmo/predict/report/training_report.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/predict/simulated_runs.hpp"

namespace kolmo::predict {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A log whose loss has fallen by a decay before, after which the rate came back.
TrainingLog log_with_a_decay() {
  simulated::Run run{.steps = 1200, .decay = 500, .noise = 0.002};
  std::vector<LogRow> rows = run.rows();
  const simulated::Run held{.steps = 1200, .noise = 0.002};
  const std::vector<LogRow> after = held.rows();
  std::copy(after.begin() + 800, after.end(), rows.begin() + 800);
  return log_of(rows);
}

TEST(Outlook, DecaysThatBeginNowAreBesideTheRateAsItIs) {
  const TrainingLog log = log_with_a_decay();
  ForecastRequest request;
  request.horizon = 60, request.target = 1.0;
  const TrainingOutlook o = outlook(log, request, "run.csv");
  EXPECT_EQ(o.planned.plan, "hold");
  EXPECT_EQ(o.planned.forecast.step.back(), 1260);
  ASSERT_EQ(o.decays.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const DecayChoice& d = o.decays[i];
    EXPECT_EQ(d.length, (std::vector{60, 120, 240, 420}[i]));
    EXPECT_EQ(d.decayed.forecast.step.back(), 1200 + d.length);
    EXPECT_DOUBLE_EQ(d.decayed.forecast.rate.back(), 0.01 / double(d.length) * 5.5)
        << "the mean of the last block's ten steps";
    const auto at = std::size_t(d.length / 10 - 1);
    EXPECT_EQ(o.held.forecast.step[at], d.decayed.forecast.step.back());
    EXPECT_EQ(d.held, o.held.forecast.median[at]);
    EXPECT_LT(d.loss(), d.held) << "the log has shown what a decay is worth";
  }
  ASSERT_TRUE(o.best());
  for (const DecayChoice& d : o.decays) EXPECT_LE(o.best()->loss(), d.loss());
}

TEST(Outlook, ARateOfZeroHasNothingToDecay) {
  std::vector<LogRow> rows = simulated::Run{.steps = 400}.rows();
  for (std::size_t i = 300; i < rows.size(); ++i) rows[i].rate = 0;
  const TrainingOutlook o = outlook(log_of(rows), {}, "run.csv");
  EXPECT_TRUE(o.decays.empty());
  EXPECT_FALSE(o.best());
  EXPECT_THAT(training_report(log_of(rows), o, ""), HasSubstr("nothing to decay"));
}

TEST(TrainingReport, SaysWhatItForecastsAndLoadsNothing) {
  const TrainingLog log = log_with_a_decay();
  ForecastRequest request;
  request.plan = "decay@1300:100", request.target = 1.0;
  const TrainingOutlook o = outlook(log, request, "folder/<run>.csv");
  const std::string page = training_report(log, o, "kolmo forecast '<run>.csv'");
  EXPECT_EQ(page, training_report(log, o, "kolmo forecast '<run>.csv'"));
  EXPECT_THAT(page, HasSubstr("<title>Training &lt;run&gt;.csv</title>"));
  EXPECT_THAT(page, Not(HasSubstr("<run>")));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  for (const char* plan : {"decay@1300:100", "hold", "decay@now:"}) EXPECT_THAT(page, HasSubstr(plan));
  for (const Standing& s : o.planned.standings) EXPECT_THAT(page, HasSubstr(s.forecaster));
  std::size_t fans = 0;
  for (std::size_t at = 0; (at = page.find("<g class=\"fan", at)) != page.npos; ++at) ++fans;
  EXPECT_EQ(fans, 3u);
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_THAT(page, Not(HasSubstr("{{")));
}

}  // namespace
}  // namespace kolmo::predict
