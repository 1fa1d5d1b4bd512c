#include "kolmo/tune/shadow.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/base/error.hpp"
#include "tests/sim/simulated_measurer.hpp"

namespace kolmo::tune {
namespace {

/// Imitates production that launches every millisecond for a while, then pauses for a while, again and again.
/// Its clock is advanced only by sleeping and measuring.
class Paced {
 public:
  Production production() {
    return {[this] { return now; }, [this] { return launches_until(now); }, [this] { return capturing; },
            [this](double s) { now += s; }, [this] { return now > end; }};
  }
  std::uint64_t launches_until(double t) const {
    const double period = busy + pause, whole = std::floor(t / period);
    return std::uint64_t(whole * busy * 1000 + std::min(t - whole * period, busy) * 1000);
  }
  bool idle_since(double t, double seconds) const { return launches_until(t) == launches_until(t - seconds); }

  double now = 1, busy = 0.05, pause = 0.05, end = 1e9;
  bool capturing = false;
};

/// Checks for every sample whether it is allowed at that time.
class Watched : public Measurer {
 public:
  Watched(Paced& paced, std::vector<double> seconds, const ShadowLimits& limits)
      : paced_(paced), inner_(std::move(seconds), {}, 1), limits_(limits) {}
  double prepare(std::size_t c) override {
    before();
    const double once = inner_.prepare(c);
    after();
    return once;
  }
  std::optional<double> sample(std::size_t c) override {
    before();
    const auto s = inner_.sample(c);
    after();
    return s;
  }
  double spent() const override { return inner_.spent(); }
  double latest_start = -1;

 private:
  void before() {
    EXPECT_TRUE(paced_.idle_since(paced_.now, limits_.idle)) << "at " << paced_.now;
    EXPECT_FALSE(paced_.capturing);
    EXPECT_GE(paced_.now - latest_start, limits_.idle) << "two samples in one slot";
    latest_start = paced_.now, spent_before_ = inner_.spent();
  }
  void after() { paced_.now += inner_.spent() - spent_before_; }

  Paced& paced_;
  SimulatedMeasurer inner_;
  ShadowLimits limits_;
  double spent_before_ = 0;
};

TEST(Allowance, FillsAtItsShareUpToItsWindow) {
  Allowance a(0.01, 10, 0);
  EXPECT_FALSE(a.covers(0.02, 1));  // 0.01 by then
  EXPECT_TRUE(a.covers(0.02, 2));
  a.spend(0.02);
  EXPECT_FALSE(a.covers(0.01, 2.5));
  EXPECT_TRUE(a.covers(0.1, 1000));
  a.spend(0.1);
  EXPECT_FALSE(a.covers(0.001, 1000));  // only the window's share was accumulated
}

TEST(Shadow, TunesInTheGapsWithinItsShare) {
  Paced paced;
  const ShadowLimits limits;
  Watched inner(paced, {4e-5, 2e-5, 3e-5}, limits);
  ShadowMeasurer shadow(inner, limits, paced.production());
  const double begin = paced.now;
  const Tuning t = tune("x", Space(std::vector<Parameter>{{"v", {0, 1, 2}}}), shadow);
  EXPECT_TRUE(t.decided);
  EXPECT_EQ(t.winner, 1u);
  EXPECT_LE(inner.spent(), limits.share * (paced.now - begin) + 2e-4) << "one sample may go over";
}

TEST(Shadow, NeverRunsWhileAStreamIsCaptured) {
  Paced paced;
  paced.capturing = true, paced.end = 100;
  const ShadowLimits limits;
  Watched inner(paced, {1e-5}, limits);
  ShadowMeasurer shadow(inner, limits, paced.production());
  EXPECT_THROW(shadow.prepare(0), ShadowMeasurer::Stopped);
  EXPECT_EQ(inner.latest_start, -1);
}

TEST(Shadow, NeverRunsWithoutAGap) {
  Paced paced;
  paced.pause = 0, paced.end = 100;
  const ShadowLimits limits;
  Watched inner(paced, {1e-5}, limits);
  ShadowMeasurer shadow(inner, limits, paced.production());
  EXPECT_THROW(shadow.prepare(0), ShadowMeasurer::Stopped);
}

TEST(Shadow, WhatTakesTooLongIsLeftOut) {
  Paced paced;
  const ShadowLimits limits;
  Watched inner(paced, {2e-5, 5e-3}, limits);
  ShadowMeasurer shadow(inner, limits, paced.production());
  const Tuning t = tune("x", Space(std::vector<Parameter>{{"v", {0, 1}}}), shadow);
  EXPECT_EQ(t.winner, 0u);
  EXPECT_NE(t.finding(1).error.find("too long"), std::string::npos);
  EXPECT_EQ(t.finding(1).samples, 0);
}

TEST(Shadow, OneInterruptionIsForgiven) {
  struct Interrupted final : Watched {
    using Watched::Watched;
    double prepare(std::size_t c) override {
      Watched::prepare(c);
      return 1;
    }
  };
  Paced paced;
  const ShadowLimits limits;
  Interrupted inner(paced, {2e-5, 1e-5}, limits);
  ShadowMeasurer shadow(inner, limits, paced.production());
  EXPECT_EQ(tune("x", Space(std::vector<Parameter>{{"v", {0, 1}}}), shadow).winner, 1u);
}

}  // namespace
}  // namespace kolmo::tune
