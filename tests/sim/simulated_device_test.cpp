#include "tests/sim/simulated_device.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace kolmo {
namespace {

constexpr SimulatedSpeed speed{.upload = 1000, .download = 500, .local = 4000, .kernel = 3, .memory = 10000};

/// A device on which a thousand bytes take one second of upload and two of download.
class Simulated : public testing::Test {
 protected:
  SimulatedDevice& device_ = SimulatedDevice::make(speed);
  Stream stream_{device_.device()}, other_{device_.device()};
  Buffer memory_{1000, stream_};
  Tensor there_ = memory_.as(DType::u8, std::vector{1000});
  struct Free {
    SimulatedDevice* device;
    void operator()(std::uint8_t* p) const { device->deallocate_host(p, 1000); }
  };
  std::unique_ptr<std::uint8_t, Free> host_{static_cast<std::uint8_t*>(device_.allocate_host(1000)),
                                            Free{&device_}};
  Tensor here_ = tensor(host_.get(), {1000});
};

TEST_F(Simulated, WorkTakesTheStatedTime) {
  stream_.copy(there_, here_);
  EXPECT_EQ(device_.now(), 0) << "queueing takes no time";
  EXPECT_EQ(device_.next_end(), 1);
  stream_.synchronize();
  EXPECT_EQ(device_.now(), 1);
  stream_.copy(here_, there_);
  stream_.submit([] {});
  stream_.fill(there_, 0);
  stream_.synchronize();
  EXPECT_EQ(device_.now(), 1 + 2 + 3 + 0.25);
  EXPECT_EQ(device_.next_end(), std::numeric_limits<double>::infinity());
}

TEST_F(Simulated, TheThreeEnginesRunSideBySide) {
  Stream third(device_.device());
  stream_.copy(there_, here_);
  device_.kernel(other_, 4);
  third.copy(here_, there_);
  stream_.synchronize(), other_.synchronize(), third.synchronize();
  EXPECT_EQ(device_.now(), 4);
  device_.kernel(stream_, 1), device_.kernel(other_, 1);
  stream_.synchronize(), other_.synchronize();
  EXPECT_EQ(device_.now(), 6) << "one kernel after the other";
}

TEST_F(Simulated, MemoryChangesWhenTheWorkEnds) {
  host_.get()[0] = 7;
  stream_.copy(there_, here_);
  stream_.copy(here_, there_);
  host_.get()[0] = 8;
  EXPECT_EQ(host_.get()[0], 8);
  device_.advance_to(0.5);
  host_.get()[0] = 9;  // too early: the upload has not ended
  stream_.synchronize();
  EXPECT_EQ(host_.get()[0], 9);
  stream_.fill(there_, 1);
  stream_.copy(here_, there_);
  device_.advance_to(device_.now() + 2);
  EXPECT_EQ(host_.get()[0], 9) << "the download has not ended";
  device_.advance_to(device_.now() + 0.25);
  EXPECT_EQ(host_.get()[0], 1);
}

TEST_F(Simulated, EventsOrderStreamsAndTellTime) {
  Event begin(device_.device()), uploaded(device_.device()), computed(device_.device());
  EXPECT_TRUE(begin.done()) << "never recorded";
  begin.record(stream_);
  stream_.copy(there_, here_);
  uploaded.record(stream_);
  other_.wait(uploaded);
  int order = 0;
  device_.kernel(other_, 5, [&] { order = int(device_.now()); });
  computed.record(other_);
  EXPECT_FALSE(uploaded.done());
  computed.synchronize();
  EXPECT_EQ(order, 6);
  EXPECT_TRUE(uploaded.done());
  EXPECT_EQ(Event::seconds(begin, uploaded), 1);
  EXPECT_EQ(Event::seconds(uploaded, computed), 5);
}

TEST_F(Simulated, CopiesOfPageableMemoryWait) {
  std::vector<std::uint8_t> pageable(1000);
  stream_.copy(there_, tensor(pageable.data(), {1000}));
  EXPECT_EQ(device_.now(), 1);
}

TEST_F(Simulated, AGraphTakesItsTimeAtEveryLaunch) {
  int runs = 0;
  Event end(device_.device());
  Graph graph = capture(stream_, [&] {
    stream_.fill(there_, 1);
    device_.kernel(stream_, 2, [&] { ++runs; });
    end.record(stream_);
  });
  stream_.synchronize();
  EXPECT_EQ(device_.now(), 0);
  graph.launch(stream_), graph.launch(stream_);
  end.synchronize();
  EXPECT_EQ(device_.now(), 4.5);
  EXPECT_EQ(runs, 2);
}

TEST_F(Simulated, MemoryIsLimitedAndGivenBackInStreamOrder) {
  EXPECT_THROW(Buffer(9001, stream_), OutOfMemory);
  {
    Buffer scratch(9000, stream_);
    stream_.fill(scratch.as(DType::u8, std::vector{9000}), 1);
  }
  EXPECT_EQ(device_.live_bytes(), 10000u) << "still in use";
  stream_.synchronize();
  EXPECT_EQ(device_.live_bytes(), 1000u);
  device_.fail_allocation(2);
  EXPECT_NO_THROW(Buffer(1, stream_));
  EXPECT_THROW(Buffer(1, stream_), OutOfMemory);
  EXPECT_NO_THROW(Buffer(1, stream_));
}

TEST_F(Simulated, ALostDeviceDoesNothingMore) {
  device_.fail_work(2);
  int done = 0;
  for (int i = 0; i < 3; ++i) device_.kernel(stream_, 1, [&] { ++done; });
  device_.advance_to(1.5);
  EXPECT_NO_THROW(device_.kernel(stream_, 1)) << "nothing has failed yet";
  EXPECT_THROW(stream_.synchronize(), DeviceError);
  EXPECT_EQ(done, 1);
  EXPECT_THROW(stream_.fill(there_, 0), DeviceError);
  EXPECT_THROW(Buffer(1, stream_), DeviceError);
  EXPECT_THROW(Event{device_.device()}, DeviceError);
  EXPECT_EQ(Stream(Device{}).device(), Device{}) << "other devices are not concerned";
}

TEST_F(Simulated, WorkThatThrowsTakesTheDeviceDown) {
  device_.kernel(stream_, 1, [] { throw std::runtime_error("a fault in the kernel"); });
  try {
    stream_.synchronize();
    FAIL();
  } catch (const DeviceError& e) {
    EXPECT_NE(std::string(e.what()).find("a fault in the kernel"), std::string::npos);
  }
}

TEST(SimulatedDevices, AreSeparateAndNotOfferedToUsers) {
  SimulatedDevice &a = SimulatedDevice::make(), &b = SimulatedDevice::make();
  EXPECT_NE(a.device(), b.device());
  EXPECT_EQ(to_string(a.device()), "cpu:" + std::to_string(a.device().index));
  EXPECT_THROW(parse_device(to_string(a.device())), InvalidArgument);
  EXPECT_THROW(Stream({DeviceKind::cpu, 1 << 20}), Unsupported);
  for (const DeviceInfo& d : devices()) EXPECT_TRUE(d.device.kind == DeviceKind::cuda || d.device.index == 0);
}

}  // namespace
}  // namespace kolmo
