// Tests what threads may do at once with streams, events and buffers, as stream.hpp says. This is also run
// under ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "kolmo/runtime/stream.hpp"
#include "tests/sim/simulated_device.hpp"

namespace kolmo {
namespace {

constexpr std::size_t n = 64;
constexpr int rounds = 200;

Tensor bytes_of(const Buffer& b) { return b.as(DType::u8, std::vector{std::int64_t(b.bytes())}); }

class StreamThreads : public testing::TestWithParam<Device> {
 protected:
  std::uint8_t first_of(const Buffer& b, Stream& stream) {
    std::uint8_t host[n] = {};
    stream.copy(tensor(host, {std::int64_t(n)}), bytes_of(b));
    stream.synchronize();
    return host[0];
  }
};

TEST_P(StreamThreads, DifferentStreamsAreUsedAtOnce) {
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> all;
    for (int t = 1; t <= 4; ++t)
      all.emplace_back([&, t] {
        Stream own(GetParam(), 1);
        for (int i = 0; i < rounds; ++i) {
          Buffer b(n, own);
          own.fill(bytes_of(b), t);
          wrong += first_of(b, own) != t;
        }
      });
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(StreamThreads, OthersLookAndCopyWhileOneUses) {
  Stream stream(GetParam(), 2);
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> others;
  for (int t = 0; t < 3; ++t)
    others.emplace_back([&] {
      const Stream& seen = stream;
      const void* const native = seen.native();
      while (!done) {
        const Stream copy = seen, narrow = seen.with_threads(1);
        wrong += copy.device() != GetParam() || seen.threads() != 2 || narrow.threads() != 1 ||
                 copy.native() != native || seen.deferred() != copy.deferred();
      }
    });
  const Buffer b(n, stream);
  for (int i = 0; i < rounds; ++i) {
    stream.fill(bytes_of(b), i % 100);
    EXPECT_EQ(first_of(b, stream), i % 100);
  }
  done = true;
  others.clear();
  EXPECT_EQ(wrong, 0);
}

TEST_P(StreamThreads, BuffersAreDestroyedByAnyThread) {
  const std::uint64_t before = pool_stats(GetParam()).live_bytes;
  std::optional<Stream> stream(std::in_place, GetParam(), 1);
  std::mutex mutex;
  std::vector<Buffer> given;
  std::atomic<bool> done = false;
  std::jthread other([&] {
    while (!done) {
      std::vector<Buffer> mine;
      const std::scoped_lock lock(mutex);
      mine.swap(given);
    }
  });
  for (int i = 0; i < rounds; ++i) {
    Buffer b(n << (i % 12), *stream);
    stream->fill(bytes_of(b), 1);
    stream->synchronize();
    const std::scoped_lock lock(mutex);
    given.push_back(std::move(b));
  }
  done = true;
  other.join();
  given.clear();
  stream.reset();
  EXPECT_EQ(pool_stats(GetParam()).live_bytes, before);
}

TEST_P(StreamThreads, EventsAreWaitedForByOthers) {
  constexpr int readers = 3;
  Stream stream(GetParam(), 1);
  const Buffer b(n, stream);
  std::optional<Event> ready;
  std::barrier together(readers + 1);
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> others;
  for (int t = 0; t < readers; ++t)
    others.emplace_back([&, t] {
      Stream own(GetParam(), 1);
      for (int i = 0; i < rounds / 10; ++i) {
        together.arrive_and_wait();  // the event is recorded
        if (t == 0) ready->synchronize();
        own.wait(*ready);
        wrong += first_of(b, own) != i;
        wrong += !ready->done();
        together.arrive_and_wait();  // the event has been read
      }
    });
  for (int i = 0; i < rounds / 10; ++i) {
    ready.emplace(GetParam());
    stream.fill(bytes_of(b), i);
    ready->record(stream);
    together.arrive_and_wait();
    together.arrive_and_wait();
  }
  others.clear();
  EXPECT_EQ(wrong, 0);
}

TEST_P(StreamThreads, AStreamIsHandedOver) {
  Stream stream(GetParam(), 1);
  Buffer b(n, stream);
  for (int i = 0; i < 8; ++i)
    std::jthread([&, i] {
      stream.fill(bytes_of(b), i);
      const Graph graph = capture(stream, [&] { stream.fill(bytes_of(b), i + 1); });
      EXPECT_EQ(first_of(b, stream), i);
    }).join();
  std::optional<Stream> last = std::move(stream);
  std::jthread([b = std::move(b), last = std::move(last)]() mutable {
    Buffer(std::move(b));
    last.reset();
  }).join();
}

INSTANTIATE_TEST_SUITE_P(Devices, StreamThreads, testing::Values(Device{}, SimulatedDevice::make().device()),
                         [](const auto& info) { return info.index ? "simulated" : "cpu"; });

}  // namespace
}  // namespace kolmo
