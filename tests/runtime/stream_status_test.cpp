// Tests which launch the error for faulty data names.
#include "kolmo/runtime/stream_status.hpp"

#include <gtest/gtest.h>

#include "tests/io/temporary_folder.hpp"
#include "tests/sim/simulated_device.hpp"

namespace kolmo {
namespace {

constexpr std::string_view faults[] = {"x is not a number", "x is below 0"};

/// The status of a stream whose launches do nothing but what the test reports.
class StreamStatusTest : public testing::Test {
 protected:
  ~StreamStatusTest() override {
    status_.release();
    device_.destroy_stream(stream_);
  }
  Status begin(std::string_view op) { return status_.begin(op, faults); }
  /// Begins launches that find nothing wrong; none of them is checked.
  void others(int count, std::string_view op = "other") {
    for (int i = 0; i < count; ++i) begin(op);
  }
  void report(const Status& status, int fault, std::int64_t index) {
    device_.synchronize(stream_);  // the word is filled by then
    status.report(fault, index);
  }
  /// Begins the only launch of a graph. The handle is not kept: the test itself reports what a replay would.
  Status captured(std::string_view op) {
    status_.prepare();
    device_.begin_capture(stream_);
    const Status s = begin(op);
    device_.abandon_capture(stream_);
    return s;
  }
  std::string told() {
    return testing_io::message_of<InvalidArgument>([&] { status_.check(); });
  }

  SimulatedDevice& device_ = SimulatedDevice::make();
  Backend::Handle stream_ = device_.make_stream();
  StreamStatus status_{device_, stream_};
};

TEST_F(StreamStatusTest, TheEarliestLaunchIsNamedHoweverManyWereBefore) {
  for (const int before : {0, 4094, 4095, 4096, 5000, 30000}) {
    others(before);
    const Status outer = begin("outer"), inner = begin("inner");
    report(inner, 0, 3);
    report(outer, 1, 7);
    EXPECT_EQ(told(), "outer: x is below 0 at element 7") << before;
  }
}

TEST_F(StreamStatusTest, NumbersBeginAnewWhenAllIsChecked) {
  const Status first = begin("first");
  for (int round = 0; round < 40; ++round) {
    others(1000);
    status_.replayed();
    status_.check();
    status_.replayed();  // a graph is replayed before any other launch
  }
  const Status later = begin("later");
  EXPECT_EQ(later.launch, first.launch);
  report(later, 0, 1);
  EXPECT_EQ(told(), "later: x is not a number at element 1");
}

TEST_F(StreamStatusTest, BeyondTheLastNumberOneOperatorIsNamedOrNone) {
  others(40000, "alone");
  report(begin("alone"), 1, 2);
  EXPECT_EQ(told(), "alone: x is below 0 at element 2");
  others(40000, "alone");
  begin("another");
  report(begin("alone"), 1, 2);
  EXPECT_EQ(told(), "one of several operators: unknown fault at element 2");
  report(begin("afterwards"), 1, 2);
  EXPECT_EQ(told(), "afterwards: x is below 0 at element 2");
}

TEST_F(StreamStatusTest, AGraphKeepsItsNumbers) {
  const Status a = captured("first graph"), b = captured("second graph");
  others(5000);
  status_.check();
  others(5000);
  for (int i = 0; i < 5000; ++i) captured("later graph");
  for (const auto& [of, name] : {std::pair{a, "first graph"}, {b, "second graph"}}) {
    status_.replayed();
    report(of, 0, 9);
    EXPECT_EQ(told(), std::string(name) + ": x is not a number at element 9");
  }
}

TEST_F(StreamStatusTest, CapturedAgainTheSameLaunchesTakeNoFurtherNumbers) {
  const Status a = captured("a"), b = captured("b");
  EXPECT_NE(a.launch, b.launch);
  EXPECT_EQ(captured("a").launch, a.launch);
  EXPECT_EQ(captured("b").launch, b.launch);
  status_.prepare();
  device_.begin_capture(stream_);
  const Status first = begin("b"), second = begin("a"), third = begin("a");
  device_.abandon_capture(stream_);
  EXPECT_LT(first.launch, second.launch) << "the earliest of a graph is named, too";
  EXPECT_LT(second.launch, third.launch);
}

TEST_F(StreamStatusTest, CannotBeginWhileTheOwnerCaptures) {
  device_.begin_capture(stream_);
  EXPECT_THROW(begin("op"), Unsupported);
  status_.checked = false;
  EXPECT_FALSE(begin("op"));
  status_.checked = true;
  device_.abandon_capture(stream_);
  begin("op");
  device_.begin_capture(stream_);
  EXPECT_TRUE(begin("op"));
  device_.abandon_capture(stream_);
}

TEST_F(StreamStatusTest, AWordThatNobodyWroteNamesNobody) {
  report({begin("op").word, 60000ull << 48}, 7, 5);
  EXPECT_EQ(told(), "an operator: unknown fault at element 5");
  EXPECT_NO_THROW(status_.check());
}

}  // namespace
}  // namespace kolmo
