// Results of a pipeline: every item once, with its result or its error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/runtime/pipeline_rig.hpp"

namespace kolmo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A kind of place: with or without own threads, on devices that work at once and on the simulated one.
struct Place {
  bool simulated;
  bool own_threads, graph;
  double spin = 0;
};
class PipelineEverywhere : public testing::TestWithParam<Place> {
 protected:
  SimulatedDevice* simulated_ = GetParam().simulated ? &SimulatedDevice::make(byte_per_millisecond) : nullptr;
  Device device_ = simulated_ ? simulated_->device() : Device{};
  PipelineOptions options() const {
    const Place& p = GetParam();
    return {.slots = 4, .queue = 5, .spin = p.spin, .graph = p.graph, .own_threads = p.own_threads};
  }
  Returned back_;
};
constexpr Place simulated_places[] = {
    {true, true, false}, {true, true, false, 50e-6}, {true, false, false}, {true, true, true}};
INSTANTIATE_TEST_SUITE_P(Host, PipelineEverywhere,
                         testing::Values(Place{false, true, false}, Place{false, false, false}));
INSTANTIATE_TEST_SUITE_P(Simulated, PipelineEverywhere, testing::ValuesIn(simulated_places));

/// A device that fails on command.
class FailingDevice : public PipelineEverywhere {};
INSTANTIATE_TEST_SUITE_P(Simulated, FailingDevice, testing::ValuesIn(simulated_places));

TEST_P(PipelineEverywhere, EveryItemComesBackInOrderWithItsResult) {
  constexpr std::size_t count = 500;
  auto stages = load_stages(simulated_);
  if (GetParam().graph)  // a replay repeats the first item's kernel, so all have equal bytes
    stages.bytes = [](const Load&, int) { return PipelineBytes{701, 8}; };
  if (GetParam().graph)
    stages.fill = [](const Load& l, const PipelineSlot& slot) {
      std::memset(slot.staged_input, 0, 701);
      std::memset(slot.staged_input, l.value, std::size_t(l.upload));
    };
  LoadPipeline pipeline(device_, stages, std::ref(back_), options());
  for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(pipeline.submit(load(i)));
  pipeline.drain();
  ASSERT_EQ(back_.order.size(), count);
  EXPECT_TRUE(std::is_sorted(back_.order.begin(), back_.order.end()));
  EXPECT_EQ(back_.count(PipelineOutcome::done), std::ptrdiff_t(count));
  const PipelineReport r = pipeline.report();
  EXPECT_EQ(r.submitted, count);
  EXPECT_EQ(r.done, count);
  EXPECT_EQ(r.parts, count);
  EXPECT_EQ(r.failed + r.dropped + r.rejected, 0u);
}

TEST_P(PipelineEverywhere, AnItemThatFailsComesBackWithItsErrorAndTheOthersAreNotConcerned) {
  auto stages = load_stages(simulated_);
  const auto fails = [](const char* where, std::size_t remainder, auto plain) {
    return [=](const Load& l, auto&&... more) {
      if (l.index % 10 == remainder) fail<InvalidArgument>(std::string(where) + " cannot");
      plain(l, more...);
    };
  };
  stages.fill = fails("fill", 2, stages.fill);
  stages.compute = fails("compute", 5, stages.compute);
  stages.read = fails("read", 7, stages.read);
  auto o = options();
  o.graph = false;
  LoadPipeline pipeline(device_, stages, std::ref(back_), o);
  for (std::size_t i = 0; i < 100; ++i) pipeline.submit(load(i));
  pipeline.drain();
  EXPECT_TRUE(std::is_sorted(back_.order.begin(), back_.order.end()));
  for (std::size_t i = 0; i < 100; ++i)
    EXPECT_EQ(back_.outcome[i],
              i % 10 == 2 || i % 10 == 5 || i % 10 == 7 ? PipelineOutcome::failed : PipelineOutcome::done);
  EXPECT_EQ(pipeline.report().failed, 30u);
  ASSERT_EQ(back_.errors.size(), 30u);
  EXPECT_EQ(back_.errors[0], "fill cannot");
  EXPECT_EQ(back_.errors[1], "compute cannot");
  EXPECT_EQ(back_.errors[2], "read cannot");
}

TEST_P(PipelineEverywhere, ThePartsOfAnItemComeBackTogether) {
  auto stages = load_stages(simulated_);
  stages.parts = [](const Load& l) { return 1 + int(l.index % 9); };
  const auto share = [parts = stages.parts](const Load& l, int part) {
    return l.upload * (part + 1) / parts(l) - l.upload * part / parts(l);
  };
  stages.bytes = [=](const Load& l, int part) { return PipelineBytes{std::size_t(share(l, part)), 8}; };
  stages.read = [parts = stages.parts, plain = stages.read](const Load& l, const PipelineSlot& slot,
                                                            Sum& sum) {
    EXPECT_EQ(slot.part, sum.parts) << "in order";
    if (l.index == 50 && slot.part == 2) fail<InvalidArgument>("the third part cannot");
    plain(l, slot, sum);
  };
  auto o = options();
  o.graph = false;
  LoadPipeline pipeline(device_, stages, std::ref(back_), o);
  for (std::size_t i = 0; i < 100; ++i) pipeline.submit(load(i));
  pipeline.drain();
  EXPECT_TRUE(std::is_sorted(back_.order.begin(), back_.order.end()));
  EXPECT_EQ(back_.count(PipelineOutcome::done), 99);
  EXPECT_THAT(back_.errors, ElementsAre("the third part cannot"));
}

TEST_P(PipelineEverywhere, WhatTheReceiverThrowsIsThrownByDrain) {
  std::atomic<int> received = 0;
  LoadPipeline pipeline(
      device_, load_stages(simulated_),
      [&](auto& r) {
        ++received;
        if (r.item.index == 3) throw std::runtime_error("no room for results");
      },
      options());
  for (std::size_t i = 0; i < 10; ++i) pipeline.submit(load(100));
  EXPECT_NO_THROW(pipeline.drain());
  for (std::size_t i = 0; i < 10; ++i) {
    Load l = load(100);
    l.index = i;
    pipeline.submit(l);
  }
  EXPECT_THROW(pipeline.drain(), std::runtime_error);
  EXPECT_NO_THROW(pipeline.drain());
  EXPECT_EQ(received, 20);
}

TEST_P(PipelineEverywhere, ManyThreadsMaySubmit) {
  constexpr std::size_t threads = 4, each = 200;
  std::vector<std::size_t> last(threads, 0);
  std::atomic<int> inside = 0;
  auto o = options();
  o.graph = false, o.own_threads = true;
  {
    LoadPipeline pipeline(
        device_, load_stages(simulated_),
        [&](auto& r) {
          EXPECT_EQ(++inside, 1) << "results are handed over one at a time";
          back_(r);
          std::size_t& previous = last[r.item.index / each];
          EXPECT_TRUE(r.item.index % each == previous) << "a thread's items stay in order";
          ++previous;
          --inside;
        },
        o);
    std::vector<std::thread> all;
    for (std::size_t t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        for (std::size_t i = 0; i < each; ++i) pipeline.submit(load(t * each + i));
      });
    for (int i = 0; i < 50; ++i) {
      const PipelineReport now = pipeline.report();
      EXPECT_LE(now.done, now.submitted);
    }
    for (auto& t : all) t.join();
  }  // the destructor drains
  back_.expect_each_once(threads * each);
  EXPECT_EQ(back_.count(PipelineOutcome::done), std::ptrdiff_t(threads * each));
}

TEST_P(FailingDevice, FailureOfTheDeviceGivesEveryItemItsError) {
  // Any piece of work of the first items may fail, each on a device of its own.
  for (std::uint64_t n = 1; n <= 30; ++n) {
    SimulatedDevice& device = SimulatedDevice::make(byte_per_millisecond);
    Returned back;
    auto o = options();
    o.queue = 100, o.graph = false;
    LoadPipeline pipeline(device.device(), load_stages(&device), std::ref(back), o);
    device.fail_work(n);
    std::size_t accepted = 0;
    for (; accepted < 40; ++accepted) {
      try {
        pipeline.submit(load(accepted));
      } catch (const DeviceError& e) {
        EXPECT_THAT(e.what(), HasSubstr("a new pipeline"));
        break;
      }
    }
    pipeline.drain();
    back.expect_each_once(accepted);
    EXPECT_LE(back.count(PipelineOutcome::done), std::ptrdiff_t((n - 1) / 3)) << "items before the failure";
    EXPECT_TRUE(std::is_sorted(back.outcome.begin(), back.outcome.end())) << "done before failed";
    EXPECT_TRUE(std::is_sorted(back.order.begin(), back.order.end()));
    ASSERT_FALSE(back.errors.empty());
    for (const auto& e : back.errors) EXPECT_THAT(e, HasSubstr("was lost"));
    EXPECT_THROW(pipeline.submit(load(0)), DeviceError);
    EXPECT_NO_THROW(pipeline.drain());
  }
}

TEST_P(FailingDevice, NoMemoryForASlotFailsOneItem) {
  for (std::uint64_t n = 1; n <= 8; ++n) {  // two buffers for each of four slots
    SimulatedDevice& device = SimulatedDevice::make(byte_per_millisecond);
    {
      Returned back;
      LoadPipeline pipeline(device.device(), load_stages(&device), std::ref(back), options());
      device.fail_allocation(n);
      for (std::size_t i = 0; i < 20; ++i) {
        Load l = load(i);
        l.upload = 500;
        pipeline.submit(l);
      }
      pipeline.drain();
      back.expect_each_once(20);
      const auto slots_used = GetParam().own_threads ? std::ptrdiff_t(n <= 2) : 1;
      EXPECT_GE(back.count(PipelineOutcome::failed), slots_used);
      EXPECT_LE(back.count(PipelineOutcome::failed), 1);
    }
    EXPECT_EQ(device.live_bytes(), 0u);
  }
}

}  // namespace
}  // namespace kolmo
