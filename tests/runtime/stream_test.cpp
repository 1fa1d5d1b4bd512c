#include "kolmo/runtime/stream.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "kolmo/runtime/cpu/parallel.hpp"
#include "tests/sim/simulated_device.hpp"

namespace kolmo {
namespace {

/// Every device of this machine; the tensors of the tests are in host memory.
class Runtime : public testing::TestWithParam<Device> {
 protected:
  Stream stream_{GetParam()};

  std::vector<double> download(const Buffer& b) {
    std::vector<double> host(b.bytes() / sizeof(double));
    stream_.copy(tensor(host.data(), {std::int64_t(host.size())}), whole(b));
    stream_.synchronize();
    return host;
  }
  void upload(const Buffer& b, std::vector<double> host) {
    stream_.copy(whole(b), tensor(host.data(), {std::int64_t(host.size())}));
    stream_.synchronize();
  }
  static Tensor whole(const Buffer& b) {
    return b.as(DType::f64, std::vector<std::size_t>{b.bytes() / sizeof(double)});
  }
};

std::vector<Device> all_devices() {
  std::vector<Device> all;
  for (const DeviceInfo& d : devices()) all.push_back(d.device);
  all.push_back(SimulatedDevice::make().device());
  return all;
}
std::string name_of(const testing::TestParamInfo<Device>& info) {
  constexpr const char* kinds[] = {"cpu", "cuda", "simt"};
  return kinds[int(info.param.kind)] + std::to_string(info.param.index);
}
INSTANTIATE_TEST_SUITE_P(Devices, Runtime, testing::ValuesIn(all_devices()), name_of);

TEST_P(Runtime, CopiesAndFills) {
  const Buffer b(3 * sizeof(double), stream_), c(3 * sizeof(double), stream_);
  upload(b, {1, 2, 3});
  stream_.copy(whole(c), whole(b));
  EXPECT_EQ(download(c), (std::vector<double>{1, 2, 3}));
  stream_.fill(whole(b), 0);
  EXPECT_EQ(download(b), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(download(c), (std::vector<double>{1, 2, 3}));
}

TEST_P(Runtime, RefusesUnequalCopies) {
  const Buffer b(64, stream_);
  const auto of = [&](DType t, int n) { return b.as(t, std::vector<int>{n}); };
  EXPECT_THROW(stream_.copy(of(DType::f64, 2), of(DType::f64, 3)), InvalidArgument);
  EXPECT_THROW(stream_.copy(of(DType::f64, 2), of(DType::i64, 2)), InvalidArgument);
  Tensor gaps = of(DType::f64, 2);
  gaps.stride[0] = 2;
  EXPECT_THROW(stream_.copy(gaps, of(DType::f64, 2)), InvalidArgument);
  EXPECT_THROW(stream_.fill(gaps, 0), InvalidArgument);
  EXPECT_THROW(Stream(GetParam(), -1), InvalidArgument);
}

TEST_P(Runtime, EventsTellTimeInOrder) {
  Event begin(GetParam()), end(GetParam());
  const Buffer b(1 << 20, stream_);
  begin.record(stream_);
  for (int i = 0; i < 8; ++i) stream_.fill(whole(b), i);
  end.record(stream_);
  end.synchronize();
  EXPECT_GT(Event::seconds(begin, end), 0);
  EXPECT_LT(Event::seconds(begin, end), 10);
}

TEST_P(Runtime, AStreamWaitsForAnEventOfAnother) {
  Stream other(GetParam());
  const Buffer b(1 << 20, stream_);
  stream_.fill(whole(b), 0x40);
  Event filled(GetParam());
  filled.record(stream_);
  other.wait(filled);
  std::vector<double> host((1 << 20) / sizeof(double));
  other.copy(tensor(host.data(), {std::int64_t(host.size())}), whole(b));
  other.synchronize();
  EXPECT_EQ(host.front(), host.back());
  EXPECT_GT(host.front(), 0);
}

TEST_P(Runtime, AGraphRunsWhenItIsLaunched) {
  const Buffer from(16, stream_), to(16, stream_);
  upload(from, {1, 2}), upload(to, {0, 0});
  Graph graph = capture(stream_, [&] { stream_.copy(whole(to), whole(from)); });
  EXPECT_EQ(download(to), (std::vector<double>{0, 0}));
  graph.launch(stream_);
  EXPECT_EQ(download(to), (std::vector<double>{1, 2}));
  upload(from, {3, 4});
  graph.launch(stream_);
  EXPECT_EQ(download(to), (std::vector<double>{3, 4}));
}

TEST_P(Runtime, CaptureRefusesWhatCannotBeReplayed) {
  EXPECT_THROW(capture(stream_, [&] { stream_.synchronize(); }), InvalidArgument);
  EXPECT_FALSE(stream_.capturing()) << "the failed capture was abandoned";
  EXPECT_THROW(capture(stream_, [&] { capture(stream_, [] {}); }), InvalidArgument);
  const Buffer b(16, stream_);
  EXPECT_NO_THROW(capture(stream_, [&] { stream_.fill(whole(b), 0); }));
}

TEST_P(Runtime, AGraphKeepsTheBuffersOfItsCapture) {
  const auto live = pool_stats(GetParam()).live;
  const Buffer result(16, stream_);
  {
    Graph graph = capture(stream_, [&] {
      const Buffer scratch(16, stream_);
      stream_.fill(whole(scratch), 0);
      stream_.copy(whole(result), whole(scratch));
    });
    EXPECT_EQ(pool_stats(GetParam()).live, live + 2);
    upload(result, {5, 5});
    graph.launch(stream_);
    EXPECT_EQ(download(result), (std::vector<double>{0, 0}));
  }
  EXPECT_EQ(pool_stats(GetParam()).live, live + 1);
}

TEST_P(Runtime, BuffersAreAlignedCountedAndMoved) {
  const PoolStats before = pool_stats(GetParam());
  {
    Buffer a(100, stream_), b(1, stream_);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 128, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 128, 0u);
    const PoolStats now = pool_stats(GetParam());
    EXPECT_EQ(now.allocations, before.allocations + 2);
    EXPECT_EQ(now.live, before.live + 2);
    EXPECT_EQ(now.live_bytes, before.live_bytes + 101);
    EXPECT_GE(now.peak_bytes, now.live_bytes);
    void* const data = a.data();
    Buffer moved = std::move(a);
    EXPECT_EQ(moved.data(), data);
    b = std::move(moved);
    EXPECT_EQ(b.data(), data);
    EXPECT_EQ(pool_stats(GetParam()).live, before.live + 1) << "the buffer that was assigned to is gone";
  }
  EXPECT_EQ(pool_stats(GetParam()).live, before.live);
  EXPECT_EQ(pool_stats(GetParam()).live_bytes, before.live_bytes);
  EXPECT_EQ(Buffer(0, stream_).data(), nullptr);
  EXPECT_NO_THROW(pool_trim(GetParam()));
}

TEST_P(Runtime, ABufferOutlivesItsStreamsHandle) {
  Buffer b;
  {
    Stream short_lived(GetParam());
    b = Buffer(16, short_lived);
  }
  upload(b, {1, 2});
  EXPECT_EQ(download(b), (std::vector<double>{1, 2}));
}

TEST_P(Runtime, TooMuchMemoryIsOutOfMemory) {
  const PoolStats before = pool_stats(GetParam());
  EXPECT_THROW(Buffer(std::numeric_limits<std::size_t>::max() - 1, stream_), OutOfMemory);
  EXPECT_EQ(pool_stats(GetParam()).live, before.live);
}

TEST(Stream, HasAsManyThreadsAsAskedFor) {
  EXPECT_EQ(Stream(Device{}, 3).threads(), 3);
  EXPECT_EQ(Stream(Device{}).threads(), hardware_threads());
}

}  // namespace
}  // namespace kolmo
