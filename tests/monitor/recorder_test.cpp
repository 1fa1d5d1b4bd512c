#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "kolmo/ops/elementwise/binary/binary.hpp"
#include "kolmo/runtime/device_times.hpp"
#include "kolmo/runtime/event_cost.hpp"
#include "kolmo/runtime/monitor.hpp"
#include "tests/sim/simulated_device.hpp"

namespace kolmo::monitor {
namespace {

constexpr auto no_work = [] { return Work{}; };

const LaunchMetrics& kernel(const std::string& name, Device device) {
  for (const LaunchMetrics* k : kernels())
    if (k->name == name && k->device == device) return *k;
  throw std::runtime_error("no kernel " + name);
}

double dropped(const std::string& reason) {
  return metrics::counter("kolmo_monitor_samples_dropped_total", {{"reason", reason}}).value();
}

/// Runs `work` in a new thread, which has not spent any time on samples yet.
template <class F>
void in_new_thread(F work) {
  std::thread(work).join();
}

class Recorder : public testing::Test {
 protected:
  void TearDown() override { set(recording, true); }
  void add() {
    double x[] = {1}, y[] = {2}, z[1];
    vector_add({.x = tensor(x, {1}), .y = tensor(y, {1}), .z = tensor(z, {1})}, stream_);
  }
  Stream stream_{Device{}};
};

TEST_F(Recorder, CountsAndTimesEveryLongLaunchOnTheCpu) {
  in_new_thread([&] {
    for (int i = 0; i < 4; ++i) {
      const Scope scope("test_long", stream_, no_work);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  const LaunchMetrics& k = kernel("test_long", {});
  EXPECT_EQ(k.launches.value(), 4);
  const metrics::HistogramData timed = k.duration.read();
  EXPECT_EQ(timed.count(), 4U);
  EXPECT_GT(timed.sum, 4 * 2e-3);
  EXPECT_NEAR(k.busy.value(), timed.sum, 1e-9);
  EXPECT_EQ(k.enqueue, nullptr);
}

/// An event in a graph has no time, and asking for one may end the capture.
TEST_F(Recorder, TimesNoLaunchThatIsRecordedInAGraph) {
  SimulatedDevice& device = SimulatedDevice::make();
  const Backend::Handle owned = device.make_stream();
  {
    Stream stream = Stream::borrow(device.device(), owned);
    const auto launched = [&](const char* name) {
      in_new_thread([&] {
        for (int i = 0; i < 1000; ++i) const Scope scope(name, stream, no_work);
      });
      return kernel(name, device.device()).enqueue->read().count();
    };
    device.begin_capture(owned);
    EXPECT_EQ(launched("test_captured_by_owner"), 0U);
    device.abandon_capture(owned);
    const Graph graph = capture(stream, [&] { EXPECT_EQ(launched("test_captured"), 0U); });
    EXPECT_GT(launched("test_not_captured"), 0U);
    stream.synchronize();
  }
  device.destroy_stream(owned);
}

/// Timed launches represent those that are not timed. TimingSchedule has its own test of bias, because a
/// launch here may be interrupted for long.
TEST_F(Recorder, TimesAFewOfManyShortLaunchesOnTheCpu) {
  constexpr int launched = 200'000;
  constexpr auto shortest = std::chrono::microseconds(2);
  in_new_thread([&] {
    for (int i = 0; i < launched; ++i) {
      const Scope scope("test_short", stream_, no_work);
      const auto until = std::chrono::steady_clock::now() + shortest;
      while (std::chrono::steady_clock::now() < until) continue;
    }
  });
  const LaunchMetrics& k = kernel("test_short", {});
  EXPECT_EQ(k.launches.value(), launched);
  EXPECT_GT(k.duration.read().count(), launched / 1000);
  EXPECT_LT(k.duration.read().count(), launched / 10);
  EXPECT_GT(k.busy.value(), 0.8 * launched * 2e-6);
}

TEST_F(Recorder, SeesNothingWhileItIsOff) {
  add();
  const std::uint64_t before = launches();
  set(recording, false);
  add();
  EXPECT_EQ(launches(), before);
}

TEST_F(Recorder, DoesNotCountWhatWasRefused) {
  const std::uint64_t before = launches();
  EXPECT_THROW(vector_add({}, stream_), InvalidArgument);
  EXPECT_EQ(launches(), before);
}

TEST_F(Recorder, ReplaysOnTheHostAreCounted) {
  double x[] = {1}, y[] = {2}, z[1];
  Graph graph = capture(
      stream_, [&] { vector_add({.x = tensor(x, {1}), .y = tensor(y, {1}), .z = tensor(z, {1})}, stream_); });
  const std::uint64_t before = launches();
  graph.launch(stream_);
  graph.launch(stream_);
  EXPECT_EQ(launches(), before + 2);
}

/// Names are found by address, but an address may hold another name later.
TEST_F(Recorder, TellsNamesApartThatShareAnAddress) {
  char name[] = "test_one";
  for (const char* now : {"test_one", "test_two", "test_two"}) {
    std::copy_n(now, 8, name);
    const Scope scope({name, 8}, stream_, no_work);
  }
  const double one = kernel("test_one", {}).launches.value(), two = kernel("test_two", {}).launches.value();
  EXPECT_GE(one, 1);
  EXPECT_EQ(two, 2 * one);
}
TEST_F(Recorder, TellsLongNamesApart) {
  std::string name = "test_with_a_name_that_is_long_1";
  for (const char last : {'1', '2', '2'}) {
    name.back() = last;
    const Scope scope(name, stream_, no_work);
  }
  EXPECT_EQ(2 * kernel("test_with_a_name_that_is_long_1", {}).launches.value(),
            kernel("test_with_a_name_that_is_long_2", {}).launches.value());
}

/// Launches an operator on more devices than a thread has cached kernels.
TEST_F(Recorder, CountsEveryOneOfManyKernels) {
  std::vector<Stream> streams;
  for (int i = 0; i < 100; ++i) streams.emplace_back(SimulatedDevice::make().device());
  in_new_thread([&] {
    for (int round = 0; round < 3; ++round)
      for (Stream& stream : streams) const Scope scope("test_many", stream, no_work);
  });
  for (const Stream& stream : streams) EXPECT_EQ(kernel("test_many", stream.device()).launches.value(), 3);
}

TEST_F(Recorder, OperatorsCalledByOperatorsAreBusyOnce) {
  in_new_thread([&] {
    const Scope outer("test_outer", stream_, no_work);
    const Scope inner("test_inner", stream_, no_work);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  });
  const LaunchMetrics &outer = kernel("test_outer", {}), &inner = kernel("test_inner", {});
  EXPECT_GT(outer.busy.value(), 100e-6);
  EXPECT_EQ(inner.busy.value(), 0);
  EXPECT_GE(inner.launches.value(), 1);
  EXPECT_GT(inner.duration.read().sum, 100e-6);
}

TEST_F(Recorder, LooksAtTheWorkOfSomeLaunches) {
  DeviceInfo peaks = device_info({});
  peaks.bytes_per_second = 1e15, peaks.flops_f64 = 1e12, peaks.flops_f32 = 2e12;
  set_peaks(peaks);
  const auto launch = [&](const char* name, Work work) {
    in_new_thread([&] { const Scope scope(name, stream_, [&] { return work; }); });
  };
  launch("test_work", {1e6, 1000, false});
  launch("test_cached", {1, 1e6, true});
  set_peaks(device_info({}));
  const LaunchMetrics::Sums& s = kernel("test_work", {}).sums;
  EXPECT_GE(s.flops, 1e6);
  EXPECT_EQ(s.bytes, s.flops / 1000);
  EXPECT_DOUBLE_EQ(s.at_best, s.flops / 2e12);
  EXPECT_DOUBLE_EQ(kernel("test_work", {}).roofline_ratio(), s.at_best / s.seconds);
  EXPECT_TRUE(std::isnan(kernel("test_cached", {}).roofline_ratio())) << "1 MB may come from a cache";
}

/// A simulated GPU, in virtual time.
class SampledTimes : public testing::Test {
 protected:
  /// Collects what tests of other devices left pending.
  void SetUp() override { detail::harvest(all); }
  /// Lets pending samples end, which would otherwise wait forever in the next test.
  void TearDown() override {
    device_.advance_to(device_.now() + 1);
    detail::harvest(all);
  }
  void launch(double seconds, std::string_view name = "test_sampled") {
    const Scope scope(name, stream_, no_work);
    device_.kernel(stream_, seconds);
  }
  /// Takes a sample, whatever the schedule says.
  void sample(double seconds, double until_stop = 0, double host_seconds = 0) {
    auto s = std::make_unique<detail::TimedLaunch>(detail::TimedLaunch{&kernel_, &stream_, {}});
    s->host_seconds = host_seconds;
    detail::start(*s);
    device_.kernel(stream_, seconds);
    if (until_stop > 0) device_.advance_to(device_.now() + until_stop);
    detail::stop(std::move(s));
  }
  metrics::HistogramData timed() {
    stream_.synchronize();
    detail::harvest(all);
    return kernel_.duration.read();
  }

  static constexpr auto all = ~std::size_t(0);
  SimulatedDevice& device_ = SimulatedDevice::make();
  Stream stream_{device_.device()};
  LaunchMetrics kernel_{"test_times", device_.device()};
};

TEST_F(SampledTimes, GiveTheDeviceTimeOfEveryLaunch) {
  constexpr int launched = 10;
  device_.kernel(stream_, 1e-3);  // keeps the device behind
  in_new_thread([&] {
    for (int i = 0; i < launched; ++i) launch(100e-6);
  });
  stream_.synchronize();
  metrics::collect();
  const LaunchMetrics& k = kernel("test_sampled", device_.device());
  const metrics::HistogramData timed = k.duration.read();
  ASSERT_GE(timed.count(), 1U) << "a kernel's first launch is sampled";
  EXPECT_NEAR(timed.mean(), 100e-6, 1e-12);
  EXPECT_EQ(k.launches.value(), launched);
  EXPECT_EQ(k.enqueue->read().count(), timed.count()) << "both are of the same sample";
  EXPECT_NEAR(k.busy.value(), launched * 100e-6, 1e-9);
  launch(100e-6);
  metrics::collect();
  EXPECT_NEAR(k.busy.value(), (launched + 1) * 100e-6, 1e-9);
}

/// Even for few launches, a reading must include each operator that ran since the previous one.
TEST_F(SampledTimes, AreTakenOfALaunchBetweenTwoReadings) {
  const auto looked_at = [&] { return kernel("test_rare", device_.device()).enqueue->read().count(); };
  for (const std::uint64_t readings : {1U, 2U, 3U}) {
    in_new_thread([&] {
      for (int i = 0; i < 5; ++i) launch(1e-6, "test_rare");
    });
    EXPECT_GE(looked_at(), readings);  // a further one may have been picked at random
    metrics::collect();
  }
}

TEST_F(SampledTimes, AreExactWhereTheDeviceWasBehind) {
  device_.kernel(stream_, 1e-3);
  sample(10e-6, 0, 1);  // the host took a second, and the device had other work
  EXPECT_EQ(timed().count(), 1U);
  EXPECT_NEAR(timed().mean(), 10e-6, 1e-12);
}

TEST_F(SampledTimes, AreWithoutWhatTheEventsAdd) {
  SimulatedDevice& device = SimulatedDevice::make({.event = 2e-6});
  EXPECT_NEAR(measure_event_cost(device.device()), 2e-6, 1e-11);
  Stream stream(device.device());
  device.kernel(stream, 1e-3);
  in_new_thread([&] {
    const Scope scope("test_events", stream, no_work);
    device.kernel(stream, 5e-6);
  });
  stream.synchronize();
  metrics::collect();
  const LaunchMetrics& k = kernel("test_events", device.device());
  EXPECT_EQ(k.duration.read().count(), 1U);
  EXPECT_NEAR(k.duration.read().sum, 5e-6, 1e-11);
}

TEST_F(SampledTimes, AreNotUsedWhereTheDeviceMayHaveIdled) {
  const double before = dropped("idle");
  sample(10e-6, 2e-6, 1e-6);  // the host took 10 % of the time
  EXPECT_EQ(timed().count(), 0U);
  EXPECT_EQ(dropped("idle"), before + 1);
  sample(10e-6, 2e-6, 0.1e-6);  // the host took 1 % of the time
  EXPECT_EQ(timed().count(), 1U);
}

TEST_F(SampledTimes, WaitInARingOfLimitedSize) {
  const double before = dropped("ring_full");
  device_.kernel(stream_, 1e-3);
  for (int i = 0; i < 70; ++i) sample(1e-6);
  EXPECT_EQ(dropped("ring_full"), before + 6);
  EXPECT_EQ(timed().count(), 64U);
  EXPECT_EQ(timed().count(), 64U) << "each is told once";
}

TEST_F(SampledTimes, ALostDeviceIsNoMatterOfTheMonitor) {
  const double before = dropped("error");
  sample(1e-6);
  device_.fail_work(1);
  EXPECT_ANY_THROW({
    device_.kernel(stream_, 1e-6);
    stream_.synchronize();
  });
  metrics::collect();
  auto s = std::make_unique<detail::TimedLaunch>(detail::TimedLaunch{&kernel_, &stream_, {}});
  detail::start(*s);
  detail::stop(std::move(s));
  metrics::collect();
  EXPECT_GT(dropped("error"), before);
}

TEST_F(SampledTimes, AGraphIsTimedAsAWhole) {
  Graph graph = capture(stream_, [&] { device_.kernel(stream_, 30e-6); });
  device_.kernel(stream_, 1e-3);
  in_new_thread([&] { graph.launch(stream_); });
  stream_.synchronize();
  metrics::collect();
  const LaunchMetrics& k = kernel("graph", device_.device());
  EXPECT_EQ(k.launches.value(), 1);
  EXPECT_NEAR(k.duration.read().mean(), 30e-6, 1e-12);
}

/// Compares the sampled times of short calls, in a queue that is always full, with the time of a long
/// sequence.
TEST(TimesOnGpu, AreThoseOfAFullQueue) {
  const Device gpu{DeviceKind::cuda};
  if (!available(gpu)) GTEST_SKIP() << "needs a GPU";
  constexpr std::int64_t n = 1 << 18;
  constexpr int in_row = 200;
  Stream stream(gpu);
  const Buffer memory(3 * n * sizeof(float), stream);
  auto* const at = static_cast<float*>(memory.data());
  const auto part = [&](int i) { return tensor(at + i * n, DType::f32, std::array{n}, gpu); };
  stream.fill(memory.as(DType::u8, std::array{memory.bytes()}), 0);
  Event begin(gpu), end(gpu);
  const auto row = [&] {
    {
      const auto held = stream.hold();
      begin.record(stream);
      for (int i = 0; i < in_row; ++i) vector_add({.x = part(0), .y = part(1), .z = part(2)}, stream);
      end.record(stream);
    }
    stream.synchronize();
    return Event::seconds(begin, end) / in_row;
  };
  row();
  double seconds = 1;
  for (int i = 0; i < 10; ++i) seconds = std::min(seconds, row());
  metrics::collect();
  const metrics::Histogram& timed = kernel("vector_add", gpu).duration;
  const metrics::HistogramData before = timed.read();
  while (timed.read().count() < before.count() + 30) {
    in_new_thread([&] { row(); });
    metrics::collect();
  }
  const metrics::HistogramData after = timed.read();
  const double sampled = (after.sum - before.sum) / double(after.count() - before.count());
  EXPECT_NEAR(sampled, seconds, 0.2 * seconds) << "events add " << measure_event_cost(gpu);
}

}  // namespace
}  // namespace kolmo::monitor
