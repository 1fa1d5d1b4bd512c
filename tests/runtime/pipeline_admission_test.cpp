// Which items a pipeline accepts, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "tests/runtime/pipeline_rig.hpp"

namespace kolmo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Nothing ends on the simulated device until the clock advances, so the first three items fill the slots.
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

TEST_F(Admission, WithoutOwnThreadsTheReceiverMayDoBoth) {
  LoadPipeline* self = nullptr;
  LoadPipeline pipeline(
      device_.device(), stages_,
      [&](auto& r) {
        back_(r);
        if (r.item.index < 10) self->submit(load(r.item.index + 10));
        self->drain();
      },
      manual({.queue = 1}));
  self = &pipeline;
  offer(pipeline, 10);
  pipeline.drain();
  back_.expect_each_once(20);
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

TEST_F(Admission, SlotsMayHaveTheirMemoryBeforeTheFirstItem) {
  for (const bool measured : {false, true}) {
    LoadPipeline pipeline(device_.device(), stages_, std::ref(back_),
                          manual({.room = measured ? PipelineBytes{} : PipelineBytes{701, 400}}));
    if (measured) pipeline.measure_alone({.upload = 701}, 1);
    device_.fail_allocation(1);
    for (std::size_t i = 0; i < 10; ++i) pipeline.submit(load(690 + i));
    pipeline.drain();
    EXPECT_THAT(back_.errors, ElementsAre()) << "no slot asked for memory";
    pipeline.submit({.upload = 5000, .index = 10});
    pipeline.drain();
    EXPECT_EQ(back_.errors.size(), 1u) << "this one did";
    back_ = {};
  }
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
  for (const double spin : {-1e-3, 1.5}) EXPECT_THROW(make({.spin = spin}), InvalidArgument);
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
