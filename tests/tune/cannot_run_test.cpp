// Tests what tuning does with what a configuration throws: some exceptions mean that it cannot run, the
// others end the tuning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <new>

#include "kolmo/base/error.hpp"
#include "kolmo/tune/load.hpp"
#include "kolmo/tune/tune.hpp"

namespace kolmo::tune {
namespace {

using testing::HasSubstr;

const Space& three() {
  static const Space space(std::vector<Parameter>{{"x", {0, 1, 2}}});
  return space;
}

enum Thrown { invalid, unsupported, no_memory, bad_alloc, device, error, busy, other };
[[noreturn]] void throw_it(Thrown what) {
  switch (what) {
    case invalid:
      fail<InvalidArgument>("refused");
    case unsupported:
      fail<Unsupported>("refused");
    case no_memory:
      fail<OutOfMemory>("refused");
    case bad_alloc:
      throw std::bad_alloc();
    case device:
      fail<DeviceError>("lost");
    case error:
      fail<Error>("wrong");
    case busy:
      fail<Busy>("busy");
    default:
      throw std::logic_error("other");
  }
}

/// Makes a space in which configuration 2 would be the fastest; `one` throws when it is asked for the n-th
/// time.
Evaluate throwing(std::int64_t one, Thrown what, int nth) {
  return [=, asked = 0](const Values& v) mutable {
    if (v[0] == one && ++asked >= nth) throw_it(what);
    return 1e-3 / double(1 + v[0]);
  };
}

class Skipped : public testing::TestWithParam<std::tuple<Thrown, int>> {};

TEST_P(Skipped, IsRecordedAndTheOthersGoOn) {
  const auto [what, nth] = GetParam();
  const Tuning t = tune("f", three(), throwing(2, what, nth), {.strategy = "exhaustive"});
  EXPECT_EQ(t.winner, 1u);
  EXPECT_TRUE(t.decided);
  EXPECT_THAT(t.finding(2).error, testing::AnyOf(HasSubstr("refused"), HasSubstr("no host memory")));
  EXPECT_EQ(t.finding(1).error, "");
}

TEST_P(Skipped, TheDefaultIsAnError) {
  const auto [what, nth] = GetParam();
  EXPECT_THROW(tune("f", three(), throwing(0, what, nth)), Unsupported);
}

TEST_P(Skipped, TheIncumbentIsReplaced) {
  const auto [what, nth] = GetParam();
  const Tuning t = tune("f", three(), throwing(2, what, nth), {.strategy = "exhaustive", .incumbent = 2});
  EXPECT_EQ(t.winner, 1u);
}

// The configuration throws at first, in the search, and twice among the finalists.
INSTANTIATE_TEST_SUITE_P(All, Skipped,
                         testing::Combine(testing::Values(invalid, unsupported, no_memory, bad_alloc),
                                          testing::Values(1, 4, 11, 16)));

TEST(CannotRun, WhatFailsWhenItIsConfirmedLeavesWhatIsInUse) {
  const Tuning t = tune("f", three(), throwing(2, no_memory, 18), {.strategy = "exhaustive"});
  EXPECT_EQ(t.winner, 0u);
  EXPECT_THAT(t.finding(2).error, HasSubstr("refused"));
}

TEST(CannotRun, AnythingElseEndsTheTuning) {
  for (const int nth : {1, 4, 11}) {
    EXPECT_THROW(tune("f", three(), throwing(2, device, nth)), DeviceError);
    EXPECT_THROW(tune("f", three(), throwing(2, error, nth)), Error);
    EXPECT_THROW(tune("f", three(), throwing(2, busy, nth)), Busy);
    EXPECT_THROW(tune("f", three(), throwing(2, other, nth)), std::logic_error);
  }
}

TEST(CannotRun, VerificationSkipsWhatIsWrongAsWell) {
  const auto tuned = [](Thrown what) {
    TuneOptions o;
    o.verify = [what](std::size_t c) {
      if (c == 2) throw_it(what);
      return std::string("exact");
    };
    return tune(
        "f", three(), [](const Values& v) { return 1e-3 / double(1 + v[0]); }, o);
  };
  for (const Thrown what : {invalid, unsupported, no_memory, bad_alloc, error}) {
    const Tuning t = tuned(what);
    EXPECT_EQ(t.winner, 1u);
    EXPECT_NE(t.finding(2).error, "");
    EXPECT_EQ(t.finding(1).verified, "exact");
  }
  EXPECT_THROW(tuned(device), DeviceError);
  EXPECT_THROW(tuned(other), std::logic_error);
}

TEST(Deadline, EndsTheTuningUndecided) {
  TuneOptions o;
  o.deadline = std::chrono::steady_clock::now();
  o.verify = [](std::size_t) -> std::string { throw std::logic_error("verified after the deadline"); };
  int asked = 0;
  const Tuning t = tune(
      "f", three(),
      [&](const Values& v) {
        ++asked;
        return 1e-3 / double(1 + v[0]);
      },
      o);
  EXPECT_FALSE(t.decided);
  EXPECT_EQ(t.winner, 0u);
  EXPECT_EQ(asked, 2) << "the default alone, once to prepare it";
}

}  // namespace
}  // namespace kolmo::tune
