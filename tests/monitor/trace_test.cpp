#include "kolmo/runtime/trace.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kolmo/runtime/monitor.hpp"
#include "tests/sim/simulated_device.hpp"

namespace kolmo {
namespace {

constexpr auto no_work = [] { return monitor::Work{}; };

TEST(Trace, HoldsEveryLaunchOfTheWindow) {
  Stream stream{Device{}};
  const auto launch = [&](const char* name) { const monitor::Scope scope(name, stream, no_work); };
  launch("test_before");
  trace::start();
  EXPECT_TRUE(trace::active());
  for (int i = 0; i < 5; ++i) launch("test_inside");
  const trace::Recording r = trace::stop();
  launch("test_after");
  EXPECT_FALSE(trace::active());
  ASSERT_EQ(r.spans.size(), 5U);
  double last = 0;
  for (const trace::Span& s : r.spans) {
    EXPECT_EQ(s.name, "test_inside");
    EXPECT_EQ(s.track, trace::this_thread());
    EXPECT_GE(s.begin, last);
    EXPECT_LE(s.begin + s.seconds, r.seconds);
    last = s.begin + s.seconds;
  }
  EXPECT_EQ(trace::stop().spans.size(), 0U);
}

TEST(Trace, ShowsDeviceTimeBesideHostTime) {
  SimulatedDevice& device = SimulatedDevice::make();
  Stream stream(device.device());
  trace::start();
  for (int i = 0; i < 100; ++i) {  // more than the limit of waiting samples without a trace
    const monitor::Scope scope("test_device", stream, no_work);
    device.kernel(stream, 20e-6);
  }
  stream.synchronize();
  const trace::Recording r = trace::stop();
  std::vector<trace::Span> queued, run;
  for (const trace::Span& s : r.spans) (s.name == "queue test_device" ? queued : run).push_back(s);
  ASSERT_EQ(queued.size(), 100U);
  ASSERT_EQ(run.size(), 100U);
  for (std::size_t i = 0; i < run.size(); ++i) {
    EXPECT_EQ(run[i].name, "test_device");
    EXPECT_TRUE(run[i].track.starts_with(to_string(device.device()) + " stream ")) << run[i].track;
    EXPECT_NEAR(run[i].seconds, 20e-6, 1e-9);
    if (i > 0) {
      EXPECT_NEAR(run[i].begin - run[i - 1].begin, 20e-6, 1e-9);
    }
  }
}

TEST(Trace, CountsWhatItHadNoRoomFor) {
  trace::start(3);
  const double now = 1e12;  // after the start of the window
  for (int i = 0; i < 5; ++i) trace::add("a", "b", now, 1);
  const trace::Recording r = trace::stop();
  EXPECT_EQ(r.spans.size(), 3U);
  EXPECT_EQ(r.dropped, 2U);
  trace::add("a", "b", now, 1);
  EXPECT_EQ(trace::stop().dropped, 0U);
}

TEST(Trace, IsWrittenAsChromeReadsIt) {
  trace::Recording r{
      1.7e9, 2, {{"a \"quoted\"", "thread 1", 0.5, 1e-6}, {"b", "cuda:0 stream 1", 1, 2e-6}}, 4};
  const auto json = nlohmann::json::parse(trace::chrome_json(r));
  EXPECT_EQ(json["otherData"]["dropped"], 4);
  const auto& events = json["traceEvents"];
  ASSERT_EQ(events.size(), 4U);
  std::map<int, std::string> tracks;
  for (const auto& e : events)
    if (e["ph"] == "M") tracks[e["tid"]] = e["args"]["name"];
  const auto& a = events[2];
  EXPECT_EQ(a["ph"], "X");
  EXPECT_EQ(a["name"], "a \"quoted\"");
  EXPECT_DOUBLE_EQ(a["ts"], 0.5e6);
  EXPECT_DOUBLE_EQ(a["dur"], 1);
  EXPECT_EQ(tracks[a["tid"]], "thread 1");
  EXPECT_EQ(tracks[events[3]["tid"]], "cuda:0 stream 1");
}

}  // namespace
}  // namespace kolmo
