#include "kolmo/predict/analysis/sweep.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "kolmo/base/error.hpp"
#include "kolmo/predict/report/sweep_report.hpp"
#include "tests/predict/simulated_runs.hpp"

namespace kolmo::predict {
namespace {

using testing::HasSubstr;
using testing::Not;

class Sweeps : public testing::Test {
 protected:
  std::filesystem::path folder =
      testing::TempDir() + "sweep_test_" + testing::UnitTest::GetInstance()->current_test_info()->name();

  void SetUp() override {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
  }
  void add(const std::string& name, const simulated::Run& run) {
    write_log((folder / name).string(), log_of(run.rows()));
  }
  Sweep swept(std::optional<std::int64_t> horizon = 400) {
    ForecastRequest request;
    request.horizon = horizon;
    return sweep(folder.string(), request);
  }
};

TEST_F(Sweeps, RunsAreComparedAtOneStepAndTheHopelessMayStop) {
  add("a.csv", {.steps = 600, .floor = 1.0, .noise = .03, .seed = 1});
  add("b.csv", {.steps = 600, .floor = 0.5, .noise = .03, .seed = 2});
  add("c.csv", {.steps = 560, .floor = 0.5, .noise = .03, .seed = 3});
  const Sweep s = swept();
  EXPECT_EQ(s.step, 1000);
  ASSERT_EQ(s.runs.size(), 3u);
  EXPECT_EQ(s.runs[2].name, (folder / "a.csv").string());
  EXPECT_EQ(s.runs[2].rank_low, 3) << "a floor that is twice as high is never caught up";
  EXPECT_LT(s.runs[2].best, .001);
  EXPECT_TRUE(s.may_stop(s.runs[2]));
  EXPECT_FALSE(s.may_stop(s.runs[0]));
  EXPECT_FALSE(s.may_stop(s.runs[1])) << "both follow the same law";
  EXPECT_NEAR(s.runs[0].best + s.runs[1].best + s.runs[2].best, 1, 1e-12);
  for (const SweepRun& run : s.runs) {
    const double floor = run.name.ends_with("a.csv") ? 1.0 : 0.5;
    const double truth = floor + 3 * std::pow(1005., -.3) + .4;
    EXPECT_NEAR(std::log(run.median), std::log(truth), .1);
    EXPECT_LT(run.low, run.median);
    EXPECT_LT(run.median, run.high);
  }
}

TEST_F(Sweeps, EqualRunsHaveEqualChances) {
  for (const char* name : {"a.csv", "b.csv"}) add(name, {.steps = 600});
  const Sweep s = swept();
  for (const SweepRun& run : s.runs) {
    EXPECT_NEAR(run.best, .5, 5 * std::sqrt(.25 / 4000)) << "within five standard errors of 4000 draws";
    EXPECT_EQ(run.rank_low, 1);
    EXPECT_EQ(run.rank_high, 2);
    EXPECT_FALSE(s.may_stop(run));
  }
}

TEST_F(Sweeps, NamesChangeNothing) {
  add("a.csv", {.steps = 600, .floor = .6, .seed = 1}), add("b.csv", {.steps = 600, .floor = .5, .seed = 2});
  add("c.csv", {.steps = 600, .floor = .55, .seed = 3});
  const Sweep before = swept();
  std::filesystem::rename(folder / "a.csv", folder / "z.csv");
  const Sweep after = swept();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(before.runs[i].median, after.runs[i].median);
    EXPECT_EQ(before.runs[i].best, after.runs[i].best);
    EXPECT_EQ(before.runs[i].rank, after.runs[i].rank);
    EXPECT_EQ(before.runs[i].below_leader, after.runs[i].below_leader);
  }
}

TEST_F(Sweeps, ARunThatCannotBeForecastIsSaidAndTheOthersGoOn) {
  add("a.csv", {.steps = 600}), add("b.csv", {.steps = 600, .seed = 2}),
      add("c.csv", {.steps = 20, .seed = 3});
  std::ofstream(folder / "d.csv") << "step,accuracy\n1,2\n";
  const Sweep s = swept({});
  ASSERT_EQ(s.runs.size(), 4u);
  EXPECT_EQ(s.step, 700) << "100 steps after the longest";
  EXPECT_THAT(s.runs[2].why_not, testing::AllOf(HasSubstr("c.csv"), HasSubstr("needs 4")));
  EXPECT_THAT(s.runs[3].why_not, testing::AllOf(HasSubstr("d.csv"), HasSubstr("loss")));
  EXPECT_FALSE(s.may_stop(s.runs[2]));
  const std::string page = sweep_report(s, folder.string(), "kolmo forecast --sweep runs");
  EXPECT_THAT(page, HasSubstr("c.csv: forecast: the log has 2 full blocks"));
  EXPECT_THAT(page, Not(HasSubstr("http-equiv=\"refresh")));
  EXPECT_EQ(page, sweep_report(s, folder.string(), "kolmo forecast --sweep runs"));
}

TEST_F(Sweeps, ARunWhoseStepsAreFarFromTheOthersIsLeftOutByName) {
  add("a.csv", {.steps = 600}), add("b.csv", {.steps = 600, .seed = 2});
  std::vector<LogRow> rows = simulated::Run{.steps = 600, .seed = 3}.rows();
  for (LogRow& row : rows) row.step += 1'000'000'000;
  write_log((folder / "far.csv").string(), log_of(rows));
  const Sweep s = swept({});
  EXPECT_EQ(s.step, 700);
  EXPECT_THAT(s.runs[2].why_not, testing::AllOf(HasSubstr("far.csv"), HasSubstr("too far beyond 600")));
}

TEST_F(Sweeps, NotesNameTheRunsThatTheyAreOf) {
  for (const char* name : {"a.csv", "b.csv", "c.csv"}) {
    std::ofstream file(folder / name);
    file << "step,loss\n";
    for (int i = 1; i <= 400; ++i)
      file << i << ',' << 1 + std::exp(-i / 200.) + .01 * std::sin(7. * i) << '\n';
  }
  EXPECT_THAT(swept().notes,
              testing::Contains(testing::AllOf(HasSubstr("a.csv and 2 more: "), HasSubstr("no rates"))));
}

TEST_F(Sweeps, OneRunIsNoSweep) {
  add("a.csv", {.steps = 600}), add("c.csv", {.steps = 20});
  EXPECT_THROW(
      {
        try {
          swept();
        } catch (const InvalidArgument& e) {
          EXPECT_THAT(e.what(), HasSubstr("needs two runs that can be forecast"));
          throw;
        }
      },
      InvalidArgument);
}

}  // namespace
}  // namespace kolmo::predict
