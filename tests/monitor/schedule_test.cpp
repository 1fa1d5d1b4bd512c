#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "kolmo/runtime/sample_schedule.hpp"

namespace kolmo::monitor {
namespace {

struct Course {
  double now = 1, spent = 0;
  std::int64_t launches = 0, samples = 0;
  double share() const { return spent / (now - 1); }
};

/// Simulates launches every `interval` seconds for `seconds`, with samples that cost `cost`.
Course run(SampleSchedule& schedule, double interval, double cost, double seconds, Course r = {}) {
  for (const double end = r.now + seconds; r.now < end; r.now += interval, ++r.launches) {
    if (!schedule.due() || !schedule.begin(r.now)) continue;
    r.now += cost;
    r.spent += cost, ++r.samples;
    schedule.end(r.now, cost);
  }
  return r;
}

TEST(SampleSchedule, TakesAThousandthOfTheTime) {
  for (const double interval : {1e-6, 5e-6, 50e-6, 500e-6})
    for (const double cost : {0.5e-6, 5e-6}) {
      SampleSchedule schedule(7);
      const Course r = run(schedule, interval, cost, 5);
      EXPECT_LT(r.share(), 0.002) << interval << ' ' << cost;
      EXPECT_GT(r.share(), std::min(0.0004, 0.8 * cost / interval)) << interval << ' ' << cost;
    }
}

TEST(SampleSchedule, LooksAtEveryLaunchWhereThatIsCheap) {
  SampleSchedule schedule(7);
  const Course r = run(schedule, 10e-3, 5e-6, 20);
  EXPECT_GT(double(r.samples), 0.9 * double(r.launches - 100));
  EXPECT_EQ(schedule.probability(), 1);
}

TEST(SampleSchedule, FollowsAChangeOfPace) {
  SampleSchedule schedule(7);
  const Course slow = run(schedule, 10e-3, 5e-6, 20);
  Course fast = run(schedule, 2e-6, 5e-6, 5, slow);
  EXPECT_LT((fast.spent - slow.spent) / (fast.now - slow.now), 0.00225);
  const Course again = run(schedule, 10e-3, 5e-6, 300, fast);
  EXPECT_GT(again.samples, fast.samples + 100);
}

TEST(SampleSchedule, BacksOffWhenLooksTurnOutDear) {
  SampleSchedule schedule(7);
  Course r = run(schedule, 10e-6, 1e-6, 2);
  const double before = r.spent, since = r.now;
  r = run(schedule, 10e-6, 200e-6, 20, r);
  EXPECT_LT((r.spent - before) / (r.now - since), 0.003);
}

/// A regular pattern of launches is sampled without bias: each of four kinds about a quarter of the time.
TEST(SampleSchedule, DoesNotKeepStepWithThePattern) {
  SampleSchedule schedule(7);
  std::array<double, 4> seen{};
  double now = 1, all = 0;
  for (std::int64_t i = 0; i < 4'000'000; ++i, now += 5e-6) {
    if (!schedule.due() || !schedule.begin(now)) continue;
    schedule.end(now, 1e-6);
    ++seen[std::size_t(i % 4)], ++all;
  }
  ASSERT_GT(all, 10000);
  for (const double s : seen) EXPECT_NEAR(s / all, 0.25, 0.02);
}

TEST(TimingSchedule, TimesEveryLongLaunch) {
  TimingSchedule schedule(7);
  double now = 1;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(schedule.due());
    EXPECT_EQ(schedule.weight(), 1);
    schedule.timed(now += 500e-6);
  }
}

/// One operator calls another: both are due before either ends.
TEST(TimingSchedule, TakesLaunchesWithinLaunches) {
  TimingSchedule schedule(7);
  double now = 1, outer = 0, inner = 0;
  constexpr int launches = 200'000;
  for (int i = 0; i < launches; ++i, now += 5e-6) {
    const bool around = schedule.due();
    if (around) outer += schedule.weight();
    const bool within = schedule.due();
    if (within) inner += schedule.weight(), schedule.timed(now + 4e-6);
    if (around) schedule.timed(now + 5e-6);
  }
  EXPECT_NEAR(outer, launches, 0.2 * launches);
  EXPECT_GT(inner, 0.5 * launches);
  EXPECT_LT(inner, 4. * launches);
}

/// There are two kinds of launches in turn, then both are ten times as fast: weights count each kind
/// correctly, within their scatter.
TEST(TimingSchedule, WeightsStandForWhatIsLeftOut) {
  TimingSchedule schedule(7);
  double now = 1, timed = 0;
  std::array<double, 2> stands_for{};
  constexpr std::int64_t launches = 2'000'000;
  for (std::int64_t i = 0; i < launches; ++i) {
    now += (i % 2 ? 1e-6 : 9e-6) * (i < launches / 2 ? 1 : 0.1);
    if (!schedule.due()) continue;
    stands_for[std::size_t(i % 2)] += schedule.weight(), ++timed;
    schedule.timed(now);
  }
  EXPECT_LT(timed * TimingSchedule::cost, 0.0015 * (now - 1));
  EXPECT_GT(timed, 10'000);
  for (const double count : stands_for) EXPECT_NEAR(count, launches / 2., 0.05 * launches / 2);
}

}  // namespace
}  // namespace kolmo::monitor
