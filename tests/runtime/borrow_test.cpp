// Streams that belong to other libraries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "kolmo/ops/elementwise/binary/binary.hpp"
#include "kolmo/runtime/array.hpp"
#include "tests/sim/simulated_device.hpp"

namespace kolmo {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(BorrowedStream, WorksWhereWorkIsDoneAtOnce) {
  for (const Device device : {Device{}, Device{DeviceKind::simt, 0}}) {
    if (!available(device)) continue;
    Stream stream = Stream::borrow(device, nullptr, 2);
    EXPECT_EQ(stream.device(), device);
    EXPECT_EQ(stream.threads(), 2);
    const Array host(std::vector{1.0, 2.0}), x = host.to_device(stream), y(DType::f64, std::array{2}, stream);
    vector_add({.x = x.tensor, .y = x.tensor, .z = y.tensor}, stream);
    Event done(device);
    done.record(stream);
    done.synchronize();
    EXPECT_THAT(y.values<double>(), ElementsAre(2, 4));
    Graph graph = capture(stream, [&] { vector_add({.x = x.tensor, .y = y.tensor, .z = y.tensor}, stream); });
    graph.launch(stream);
    stream.synchronize();
    EXPECT_THAT(y.values<double>(), ElementsAre(3, 6));
  }
  EXPECT_THROW(Stream::borrow({}, nullptr, -1), InvalidArgument);
}

/// A device that works asynchronously, with a stream owned by someone else.
class Foreign : public testing::Test {
 protected:
  SimulatedDevice& device_ = SimulatedDevice::make();
  Backend::Handle owned_ = device_.make_stream();
  ~Foreign() override { device_.destroy_stream(owned_); }

  Tensor on_device(const Buffer& b) { return b.as(DType::u8, std::array{b.bytes()}); }
};

TEST_F(Foreign, IsNotDestroyedWithItsBorrower) {
  { const Stream borrowed = Stream::borrow(device_.device(), owned_); }
  Stream again = Stream::borrow(device_.device(), owned_);
  EXPECT_EQ(again.native(), owned_);
  again.synchronize();
}

TEST_F(Foreign, HasItsWorkDoneInTheOrderOfBothLibraries) {
  Stream borrowed = Stream::borrow(device_.device(), owned_);
  std::vector<int> order;
  device_.submit(owned_, [&] { order.push_back(1); });
  device_.kernel(borrowed, 1, [&] { order.push_back(2); });
  device_.submit(owned_, [&] { order.push_back(3); });
  EXPECT_TRUE(order.empty());
  borrowed.synchronize();
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST_F(Foreign, IsWaitedForThroughEvents) {
  Stream borrowed = Stream::borrow(device_.device(), owned_), own(device_.device());
  std::vector<int> order;
  device_.kernel(borrowed, 5, [&] { order.push_back(1); });
  Event ready(device_.device());
  ready.record(borrowed);
  own.wait(ready);
  device_.kernel(own, 1, [&] { order.push_back(2); });
  EXPECT_FALSE(ready.done());
  own.synchronize();
  EXPECT_TRUE(ready.done());
  EXPECT_THAT(order, ElementsAre(1, 2));
}

TEST_F(Foreign, BorrowedTwiceIsOneQueueWithOneMemory) {
  Stream a = Stream::borrow(device_.device(), owned_, 1), b = Stream::borrow(device_.device(), owned_, 2);
  EXPECT_EQ(a.threads(), 1);
  EXPECT_EQ(b.threads(), 2);
  Graph graph = capture(a, [&] { EXPECT_TRUE(b.capturing()); });
  graph.launch(b);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) Stream::borrow(device_.device(), owned_);
    });
}

TEST_F(Foreign, KeepsItsMemoryUntilTheLastBufferIsGone) {
  const auto live = pool_stats(device_.device()).live;
  {
    std::optional<Stream> borrowed = Stream::borrow(device_.device(), owned_);
    const Buffer kept(64, *borrowed);
    borrowed.reset();
    EXPECT_EQ(pool_stats(device_.device()).live, live + 1);
  }
  EXPECT_EQ(pool_stats(device_.device()).live, live);
}

TEST_F(Foreign, CanBeCapturedByKolmo) {
  Stream borrowed = Stream::borrow(device_.device(), owned_);
  const Buffer result(16, borrowed);
  Graph graph = capture(borrowed, [&] {
    const Buffer scratch(16, borrowed);
    borrowed.fill(on_device(scratch), 7);
    borrowed.copy(on_device(result), on_device(scratch));
  });
  graph.launch(borrowed);
  std::vector<std::uint8_t> host(16);
  borrowed.copy(tensor(host.data(), {16}), on_device(result));
  borrowed.synchronize();
  EXPECT_THAT(host, Each(7));
}

TEST_F(Foreign, TakesNoMemoryWhileItsOwnerCapturesIt) {
  Stream borrowed = Stream::borrow(device_.device(), owned_);
  const Buffer before(16, borrowed);
  device_.begin_capture(owned_);
  borrowed.fill(on_device(before), 3);  // the capture records it
  EXPECT_THROW(Buffer(16, borrowed), Unsupported);
  EXPECT_NO_THROW(Buffer(0, borrowed));
  const Backend::Handle graph = device_.end_capture(owned_);
  const Buffer after(16, borrowed);
  device_.launch_graph(graph, owned_);
  std::vector<std::uint8_t> host(16);
  borrowed.copy(tensor(host.data(), {16}), on_device(before));
  borrowed.synchronize();
  EXPECT_THAT(host, Each(3));
  device_.destroy_graph(graph);
}

TEST(BorrowedStream, OfCudaIsSharedWithItsOwner) {
  const Device device{DeviceKind::cuda, 0};
  if (!available(device)) GTEST_SKIP() << "this machine has no usable NVIDIA GPU";
  Stream owner(device);
  for (void* const handle : {owner.native(), static_cast<void*>(nullptr)}) {
    Stream borrowed = Stream::borrow(device, handle);
    const Array host(std::vector(1000, 1.5));
    const Array x = host.to_device(borrowed), y(DType::f64, std::array{1000}, borrowed);
    vector_add({.x = x.tensor, .y = x.tensor, .z = y.tensor}, borrowed);
    EXPECT_THAT(y.to_host(borrowed).values<double>(), Each(3.0));
  }
  EXPECT_THROW(Stream::borrow(device, reinterpret_cast<void*>(2)), InvalidArgument) << "cudaStreamPerThread";
}

}  // namespace
}  // namespace kolmo
