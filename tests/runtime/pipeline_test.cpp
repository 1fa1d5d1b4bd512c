// What comes back from a pipeline: every item once, with its result or its error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/runtime/pipeline_rig.hpp"

namespace kolmo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Load load(std::size_t index) {
  return {.upload = int(1 + index % 700), .value = std::uint8_t(index % 251), .index = index};
}
std::int64_t sum_of(const Load& l) { return std::int64_t(l.upload) * l.value; }

/// Everything that came back.
struct Returned {
  std::vector<std::size_t> order;
  std::vector<PipelineOutcome> outcome;
  std::vector<std::string> errors;
  std::vector<double> latency;

  void operator()(LoadPipeline::Result& r) {
    order.push_back(r.item.index);
    outcome.push_back(r.outcome);
    latency.push_back(r.latency);
    EXPECT_EQ(bool(r.error), r.outcome == PipelineOutcome::failed);
    if (r.outcome == PipelineOutcome::done) {
      EXPECT_EQ(r.value.value, sum_of(r.item)) << r.item.index;
    }
    try {
      if (r.error) std::rethrow_exception(r.error);
    } catch (const std::exception& e) {
      errors.push_back(e.what());
    }
  }
  std::ptrdiff_t count(PipelineOutcome o) const { return std::count(outcome.begin(), outcome.end(), o); }
  void expect_each_once(std::size_t items) const {
    std::vector<std::size_t> sorted = order, all(items);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < items; ++i) all[i] = i;
    EXPECT_EQ(sorted, all);
  }
};

/// With threads of its own or without, on devices that work at once and on the simulated one.
struct Place {
  DeviceKind kind;
  bool own_threads, graph;
};
class Everywhere : public testing::TestWithParam<Place> {
 protected:
  SimulatedDevice* simulated_ =
      GetParam().kind == DeviceKind::sim ? &SimulatedDevice::make(byte_per_millisecond) : nullptr;
  Device device_ = simulated_ ? simulated_->device() : Device{GetParam().kind, 0};
  PipelineOptions options() const {
    return {.slots = 4, .queue = 5, .graph = GetParam().graph, .own_threads = GetParam().own_threads};
  }
  Returned back_;
};
constexpr Place simulated_places[] = {
    {DeviceKind::sim, true, false}, {DeviceKind::sim, false, false}, {DeviceKind::sim, true, true}};
INSTANTIATE_TEST_SUITE_P(Host, Everywhere,
                         testing::Values(Place{DeviceKind::cpu, true, false},
                                         Place{DeviceKind::cpu, false, false}));
INSTANTIATE_TEST_SUITE_P(Simulated, Everywhere, testing::ValuesIn(simulated_places));

/// A device that fails on command.
class FailingDevice : public Everywhere {};
INSTANTIATE_TEST_SUITE_P(Simulated, FailingDevice, testing::ValuesIn(simulated_places));

TEST_P(Everywhere, EveryItemComesBackInOrderWithItsResult) {
  constexpr std::size_t count = 500;
  auto stages = load_stages(simulated_);
  if (GetParam().graph)  // which repeats the kernel of the slot's first item, so all are equal in bytes
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

TEST_P(Everywhere, AnItemThatFailsComesBackWithItsErrorAndTheOthersAreNotConcerned) {
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

TEST_P(Everywhere, ThePartsOfAnItemComeBackTogether) {
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

TEST_P(Everywhere, WhatTheReceiverThrowsIsThrownByDrain) {
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

TEST_P(Everywhere, ManyThreadsMaySubmit) {
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
    for (int i = 0; i < 50; ++i) EXPECT_LE(pipeline.report().done, pipeline.report().submitted);
    for (auto& t : all) t.join();
  }  // the destructor drains
  back_.expect_each_once(threads * each);
  EXPECT_EQ(back_.count(PipelineOutcome::done), std::ptrdiff_t(threads * each));
}

TEST_P(FailingDevice, FailureOfTheDeviceGivesEveryItemItsError) {
  // Any piece of work of the first items, each on a device of its own.
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

// Nothing ends on the simulated device until the clock moves, so the first three items fill the slots.
class Admission : public testing::Test {
 protected:
  void offer(LoadPipeline& pipeline, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      if (!pipeline.submit(load(i))) refused_.push_back(i);
  }
  SimulatedDevice& device_ = SimulatedDevice::make(byte_per_millisecond);
  PipelineStages<Load, Sum> stages_ = load_stages(&device_);
  Returned back_;
  std::vector<std::size_t> refused_;
};

TEST_F(Admission, RejectRefusesTheNewItem) {
  LoadPipeline pipeline(device_.device(), stages_, std::ref(back_),
                        manual({.queue = 2, .backpressure = Backpressure::reject}));
  offer(pipeline, 8);
  EXPECT_THAT(refused_, ElementsAre(5, 6, 7));
  EXPECT_EQ(device_.now(), 0) << "nobody waited";
  pipeline.drain();
  EXPECT_THAT(back_.order, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(pipeline.report().rejected, 3u);
  EXPECT_EQ(pipeline.report().submitted, 5u);
}

TEST_F(Admission, ARefusedItemIsUntouched) {
  Pipeline<std::vector<int>, int> pipeline(
      device_.device(),
      {.bytes =
           [](auto&, int) {
             return PipelineBytes{4, 4};
           },
       .fill = [](auto&, auto& slot) { std::memset(slot.staged_input, 1, 4); },
       .compute = [&](auto&, auto&, Stream& s) { device_.kernel(s, 1); },
       .read = [](auto&, auto&, int&) {}},
      [](auto& r) { EXPECT_EQ(r.item.size(), 3u); },
      manual({.queue = 1, .backpressure = Backpressure::reject}));
  std::vector<int> item;
  int accepted = 0;
  for (item = {1, 2, 3}; pipeline.submit(std::move(item)); item = {1, 2, 3}) ++accepted;
  EXPECT_EQ(accepted, 4);
  EXPECT_EQ(item, (std::vector{1, 2, 3}));
}

TEST_F(Admission, DropOldestKeepsTheNewest) {
  LoadPipeline pipeline(device_.device(), stages_, std::ref(back_),
                        manual({.queue = 2, .backpressure = Backpressure::drop_oldest}));
  offer(pipeline, 8);
  pipeline.drain();
  EXPECT_TRUE(refused_.empty());
  back_.expect_each_once(8);
  std::vector<std::size_t> dropped, done;
  for (std::size_t i = 0; i < 8; ++i)
    (back_.outcome[i] == PipelineOutcome::dropped ? dropped : done).push_back(back_.order[i]);
  EXPECT_THAT(dropped, ElementsAre(3, 4, 5));
  EXPECT_THAT(done, ElementsAre(0, 1, 2, 6, 7));
  EXPECT_EQ(pipeline.report().dropped, 3u);
}

TEST_F(Admission, BlockWaitsForRoom) {
  LoadPipeline pipeline(device_.device(), stages_, std::ref(back_), manual({.queue = 2}));
  offer(pipeline, 5);
  EXPECT_EQ(device_.now(), 0);
  offer(pipeline, 1);
  EXPECT_GT(device_.now(), 1);
  EXPECT_EQ(back_.order.size(), 1u) << "no longer than needed";
  pipeline.drain();
  EXPECT_EQ(back_.count(PipelineOutcome::done), 6);
}

TEST_F(Admission, ADeadlineDropsWhatHasWaitedLonger) {
  LoadPipeline pipeline(device_.device(), stages_, std::ref(back_), manual({.queue = 10, .deadline = 2.5}));
  offer(pipeline, 10);
  pipeline.drain();
  back_.expect_each_once(10);
  EXPECT_EQ(pipeline.report().dropped + pipeline.report().done, 10u);
  EXPECT_GT(pipeline.report().dropped, 3u);
  for (std::size_t i = 0; i < 10; ++i)
    if (back_.outcome[i] == PipelineOutcome::dropped) {
      EXPECT_GT(back_.latency[i], 2.5);
    }
}

TEST_F(Admission, TheReceiverMaySubmitButNotWait) {
  std::string refusal;
  LoadPipeline* self = nullptr;
  LoadPipeline pipeline(device_.device(), stages_,
                        [&](auto& r) {
                          back_(r);
                          if (r.item.index < 3) self->submit(load(r.item.index + 1));
                          try {
                            self->drain();
                          } catch (const InvalidArgument& e) {
                            refusal = e.what();
                          }
                        },
                        {.name = "own"});
  self = &pipeline;
  pipeline.submit(load(0));
  pipeline.drain();
  EXPECT_THAT(back_.order, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(refusal, HasSubstr("own: "));
}

TEST_F(Admission, AGraphIsRecordedOncePerSlot) {
  std::atomic<int> recorded = 0;
  stages_.compute = [&, plain = stages_.compute](const Load& l, const PipelineSlot& slot, Stream& stream) {
    ++recorded;
    plain(l, slot, stream);
  };
  LoadPipeline pipeline(device_.device(), stages_, std::ref(back_), manual({.queue = 100, .graph = true}));
  const auto offer_equal = [&](std::size_t i, int bytes) {
    Load l = load(i);
    l.upload = bytes;
    pipeline.submit(l);
  };
  for (std::size_t i = 0; i < 50; ++i) offer_equal(i, 500);
  pipeline.drain();
  EXPECT_EQ(recorded, 3);
  offer_equal(50, 123);  // a partial batch
  pipeline.drain();
  EXPECT_EQ(recorded, 4);
  offer_equal(51, 500);
  pipeline.drain();
  EXPECT_EQ(recorded, 4);
  offer_equal(52, 5000);  // needs larger buffers
  offer_equal(53, 5000), offer_equal(54, 5000), offer_equal(55, 5000);
  pipeline.drain();
  EXPECT_EQ(recorded, 7);
  EXPECT_EQ(back_.count(PipelineOutcome::done), 56);
}

TEST_F(Admission, MeasuringAloneNeedsAnIdlePipeline) {
  LoadPipeline pipeline(device_.device(), stages_, std::ref(back_), manual());
  pipeline.submit(load(0));
  EXPECT_THROW(pipeline.measure_alone(load(0)), InvalidArgument);
  pipeline.drain();
  EXPECT_NO_THROW(pipeline.measure_alone(load(0)));
}

TEST_F(Admission, OptionsAreChecked) {
  const auto make = [&](const PipelineOptions& o) {
    LoadPipeline(
        device_.device(), stages_, [](auto&) {}, o);
  };
  for (const int slots : {1, 9}) EXPECT_THROW(make({.slots = slots}), InvalidArgument);
  EXPECT_THROW(make({.queue = 0}), InvalidArgument);
  EXPECT_THROW(make({.deadline = -1}), InvalidArgument);
  EXPECT_THROW(make({.objective = 0}), InvalidArgument);
  for (const int slots : {2, 8}) EXPECT_NO_THROW(make({.slots = slots}));
}

TEST_F(Admission, MetricsTellWhatHappened) {
  const auto result = [](const char* name) {
    return metrics::counter("kolmo_pipeline_items_total", {{"pipeline", "counted"}, {"result", name}})
        .value();
  };
  const auto latencies = [] {
    return metrics::histogram("kolmo_pipeline_latency_seconds", {{"pipeline", "counted"}}).read().count();
  };
  const double done = result("done"), rejected = result("rejected");
  const auto before = latencies();
  LoadPipeline pipeline(device_.device(), stages_, std::ref(back_),
                        manual({.name = "counted", .queue = 2, .backpressure = Backpressure::reject}));
  offer(pipeline, 8);
  EXPECT_EQ(metrics::gauge("kolmo_pipeline_inflight", {{"pipeline", "counted"}}).value(), 3);
  EXPECT_EQ(metrics::gauge("kolmo_pipeline_queue_length", {{"pipeline", "counted"}}).value(), 2);
  pipeline.drain();
  EXPECT_EQ(result("done") - done, 5);
  EXPECT_EQ(result("rejected") - rejected, 3);
  EXPECT_EQ(metrics::gauge("kolmo_pipeline_inflight", {{"pipeline", "counted"}}).value(), 0);
  EXPECT_EQ(latencies() - before, 5u);
  const auto compute =
      metrics::histogram("kolmo_pipeline_stage_seconds", {{"pipeline", "counted"}, {"stage", "compute"}})
          .read();
  EXPECT_NEAR(compute.mean(), 1, 1e-9);
}

}  // namespace
}  // namespace kolmo
