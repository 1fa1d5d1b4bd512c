// Two GPUs in one process. Skipped if there are fewer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "kolmo/op/host_call.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"
#include "kolmo/ops/elementwise/binary/binary.hpp"
#include "kolmo/runtime/array.hpp"

namespace kolmo {
namespace {

using testing::Each;

constexpr std::int64_t size = 1 << 16;

class TwoDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (const int count = cuda_device_count(); count < 2)
      GTEST_SKIP() << "this machine has " << count << " usable NVIDIA GPUs, and two are needed";
  }
  const Device first_{DeviceKind::cuda, 0}, second_{DeviceKind::cuda, 1};
};

Array filled(Stream& stream, double value) {
  const Array host(std::vector<double>(std::size_t(size), value));
  Array there = host.to_device(stream);
  stream.synchronize();
  return there;
}

/// Computes sum = sum + one on the stream's device. This needs no workspace, so only the launch determines
/// the device that CUDA uses.
void add_one(const Array& sum, const Array& one, Stream& stream) {
  vector_add({.x = sum.tensor, .y = one.tensor, .z = sum.tensor}, stream);
}

void expect_all(const Array& a, double value, Stream& stream) {
  const Array host = a.to_host(stream);
  EXPECT_THAT(host.values<double>(), Each(value)) << to_string(stream.device());
}

/// Multiplies 64 x 64 ones by ones, with memory and workspace of the stream's device.
void multiply(Stream& stream) {
  const Array a(std::vector<double>(64 * 64, 1.0), std::array{64, 64}), y(DType::f64, std::array{64, 64});
  call_on_host(matmul, {.a = a.tensor, .b = a.tensor, .y = y.tensor}, stream);
  EXPECT_THAT(y.values<double>(), Each(64.0)) << to_string(stream.device());
}

void alternate(Stream& a, Stream& b, int rounds) {
  const Array one_a = filled(a, 1), one_b = filled(b, 1), sum_a = filled(a, 0), sum_b = filled(b, 100);
  for (int i = 0; i < rounds; ++i) add_one(sum_a, one_a, a), add_one(sum_b, one_b, b);
  expect_all(sum_a, rounds, a), expect_all(sum_b, 100 + rounds, b);
  multiply(b), multiply(a);
}

TEST_F(TwoDevices, AlternateInOneThread) {
  Stream a(first_), b(second_);
  alternate(a, b, 200);
}

TEST_F(TwoDevices, AlternateInManyThreads) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      Stream a(t % 2 ? first_ : second_), b(t % 2 ? second_ : first_);
      alternate(a, b, 50);
    });
}

TEST_F(TwoDevices, AStreamWorksInAFreshThread) {
  for (const Device device : {second_, first_}) {
    Stream stream(device);
    const Array one = filled(stream, 1), sum = filled(stream, 5);
    std::jthread([&] { add_one(sum, one, stream); }).join();
    std::jthread([&] { expect_all(sum, 6, stream); }).join();
    std::jthread([&] { multiply(stream); }).join();
    std::jthread([&] {
      Event e(device);
      e.record(stream);
      e.synchronize();
      EXPECT_TRUE(e.done());
    }).join();
  }
}

TEST_F(TwoDevices, AStreamWaitsForAnEventOfTheOtherDevice) {
  Stream a(first_), b(second_);
  const Array one = filled(a, 1), sum = filled(a, 0), copy(DType::f64, std::array{size}, b);
  for (int round = 1; round <= 20; ++round) {
    add_one(sum, one, a);
    Event added(first_, false);
    added.record(a);
    b.wait(added);
    b.copy(copy.tensor, sum.tensor);
    Event copied(second_, false);
    copied.record(b);
    a.wait(copied);  // the next sum must not overtake it
    expect_all(copy, round, b);
  }
}

TEST_F(TwoDevices, AGraphIsLaunchedBesideTheOtherDevicesWork) {
  Stream a(first_), b(second_);
  const Array one = filled(b, 1), sum = filled(b, 0);
  Graph graph = capture(b, [&] { add_one(sum, one, b); });
  for (int i = 0; i < 10; ++i) multiply(a), graph.launch(b);
  expect_all(sum, 10, b);
}

TEST_F(TwoDevices, BuffersAreFreedInAThreadOfTheOtherDevice) {
  Stream a(first_), b(second_);
  const auto live_a = pool_stats(first_).live, live_b = pool_stats(second_).live;
  for (int round = 0; round < 20; ++round) {
    auto x = std::make_unique<Array>(filled(a, round)), y = std::make_unique<Array>(filled(b, -round));
    std::jthread([&] {
      multiply(b);
      x.reset();  // memory of the first device while the second is current
      const Array z = filled(a, 7);
      expect_all(z, 7, a);
      y.reset();
      const Array w = filled(b, 8);
      expect_all(w, 8, b);
    }).join();
  }
  EXPECT_EQ(pool_stats(first_).live, live_a);
  EXPECT_EQ(pool_stats(second_).live, live_b);
}

TEST_F(TwoDevices, ABorrowedStreamIsOfItsOwnDevice) {
  Stream a(first_), b(second_);
  EXPECT_THROW(Stream::borrow(second_, a.native()), InvalidArgument);
  Stream borrowed = Stream::borrow(second_, b.native());
  const Array one = filled(borrowed, 1), sum = filled(b, 0);
  for (int i = 0; i < 10; ++i) add_one(sum, one, borrowed), add_one(sum, one, b);
  expect_all(sum, 20, borrowed);
}

}  // namespace
}  // namespace kolmo
