#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include "kolmo/runtime/memory/front.hpp"
#include "kolmo/runtime/memory/pool.hpp"
#include "kolmo/runtime/stream.hpp"
#include "tests/runtime/memory_world.hpp"

namespace kolmo::memory {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr long operations = 200'000;
#else
constexpr long operations = 10'000'000;
#endif

TEST(SizeClass, HoldsWhatWasAskedForAndLittleMore) {
  int before = -1;
  for (std::size_t n = 1; n <= largest_class; n += n < 4096 ? 1 : 511) {
    const std::size_t granted = class_bytes(n);
    ASSERT_GE(granted, n);
    ASSERT_EQ(granted % alignment, 0u);
    ASSERT_EQ(class_bytes(granted), granted) << n;
    ASSERT_LE(granted * 4, std::max<std::size_t>(n, 1024) * 5) << n;
    const int index = class_index(n);
    ASSERT_TRUE(index == before || index == before + 1) << n;
    before = index;
  }
  EXPECT_EQ(class_index(1), 0);
  EXPECT_EQ(class_index(largest_class), class_count - 1);
  EXPECT_EQ(class_bytes(1025), 1280u);
}

/// A pool over a simulated address space, with a few streams.
struct World {
  struct Lane {
    SimulatedUpstream::SimStream* stream;
    Front* front;
  };
  explicit World(int lanes, PoolOptions options = {.name = "sim"}) : pool(upstream, std::move(options)) {
    for (int i = 0; i < lanes; ++i) add();
  }
  ~World() {
    for (const Lane& lane : lanes) pool.leave(*lane.front);
  }
  Lane& add() {
    auto* const stream = upstream.make_stream();
    return lanes.emplace_back(Lane{stream, &pool.enter(stream)});
  }
  Pool::Block get(int lane, std::size_t bytes) {
    const auto block = pool.allocate(*lanes[std::size_t(lane)].front, bytes);
    upstream.queue(lanes[std::size_t(lane)].stream);
    return block;
  }
  void put(int lane, Pool::Block block, std::size_t bytes) {
    pool.deallocate(*lanes[std::size_t(lane)].front, block, bytes);
  }
  SimulatedUpstream upstream;
  Pool pool;
  std::vector<Lane> lanes;
};

std::size_t some_size(std::mt19937_64& random) {
  const int octave = int(random() % 26);  // mostly small, at times up to 64 MiB
  if (octave > 14 && random() % 16) return 1 + random() % 4096;
  return 1 + (std::size_t(1) << octave) + random() % (std::size_t(1) << octave);
}

struct Held {
  Pool::Block block;
  std::size_t bytes;
};

TEST(Pool, NeverOverlapsBlocksNorBreaksAStreamsOrder) {
  constexpr int lanes = 4;
  World world(lanes, {.name = "sim", .keep = 256 << 20, .limit = 4ull << 30});
  Shadow shadow(world.upstream);
  std::mt19937_64 random(1);
  std::vector<std::vector<Held>> held(lanes);
  std::uint64_t refused = 0;
  for (long i = 0; i < operations; ++i) {
    const int lane = int(random() % lanes);
    auto& mine = held[std::size_t(lane)];
    auto* const stream = world.lanes[std::size_t(lane)].stream;
    if (random() % 1024 == 0) world.upstream.advance(stream);
    if (mine.size() < 200 && (mine.empty() || random() % 2)) {
      const std::size_t bytes = some_size(random);
      try {
        const auto block = world.get(lane, bytes);
        ASSERT_EQ(shadow.allocated(block.data, bytes, stream), "") << "operation " << i << ", " << bytes;
        mine.push_back({block, bytes});
      } catch (const OutOfMemory&) {
        ++refused;
      }
      continue;
    }
    const std::size_t at = random() % mine.size();
    shadow.freed(mine[at].block.data, mine[at].bytes, stream, world.upstream.queue(stream));
    world.put(lane, mine[at].block, mine[at].bytes);
    mine[at] = mine.back();
    mine.pop_back();
  }
  EXPECT_GT(world.pool.stats().from[int(MemorySource::donated)], 0u) << "memory moved between streams";
  EXPECT_LT(refused, std::uint64_t(operations / 100));
  for (int lane = 0; lane < lanes; ++lane)
    for (const Held& h : held[std::size_t(lane)]) world.put(lane, h.block, h.bytes);
  world.pool.trim();
  EXPECT_EQ(world.upstream.blocks(), 0u);
  EXPECT_EQ(world.pool.stats().live_bytes, 0u);
  EXPECT_EQ(world.pool.stats().reserved_bytes, 0u);
}

TEST(Pool, NeverOverlapsBlocksOfThreads) {
  constexpr int threads = 4;
  World world(threads);
  Shadow shadow(world.upstream);
  std::vector<std::string> faults(threads);
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        std::mt19937_64 random{std::uint64_t(t)};
        std::vector<Held> mine;
        auto* const stream = world.lanes[std::size_t(t)].stream;
        for (long i = 0; i < operations / 20 && faults[std::size_t(t)].empty(); ++i) {
          if (mine.size() < 100 && (mine.empty() || random() % 2)) {
            const std::size_t bytes = some_size(random);
            const auto block = world.get(t, bytes);
            faults[std::size_t(t)] = shadow.allocated(block.data, bytes, stream);
            mine.push_back({block, bytes});
          } else {
            std::swap(mine[random() % mine.size()], mine.back());
            shadow.freed(mine.back().block.data, mine.back().bytes, stream, world.upstream.queue(stream));
            world.put(t, mine.back().block, mine.back().bytes);
            mine.pop_back();
          }
          if (random() % 4096 == 0) world.pool.trim();
          if (random() % 4096 == 0) world.pool.stats();
        }
        for (const Held& h : mine) {
          shadow.freed(h.block.data, h.bytes, stream, world.upstream.queue(stream));
          world.put(t, h.block, h.bytes);
        }
      });
  }
  for (const std::string& fault : faults) EXPECT_EQ(fault, "");
  world.pool.trim();
  EXPECT_EQ(world.upstream.blocks(), 0u);
}

TEST(Pool, OfRealMemoryKeepsWhatThreadsWrite) {
  constexpr int threads = 4;
  std::vector<long> damaged(threads);
  const auto live = pool_stats({}).live;
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        Stream stream;
        std::mt19937_64 random{std::uint64_t(t)};
        std::vector<std::pair<Buffer, unsigned char>> mine;
        const auto whole = [](const std::pair<Buffer, unsigned char>& b) {
          const auto* p = static_cast<const unsigned char*>(b.first.data());
          return p[0] == b.second && !std::memcmp(p, p + 1, b.first.bytes() - 1);
        };
        for (long i = 0; i < operations / 100; ++i) {
          if (mine.size() < 100 && (mine.empty() || random() % 2)) {
            const std::size_t bytes = random() % 64 ? 1 + random() % 4096 : 1 + random() % (3 << 20);
            mine.emplace_back(Buffer(bytes, stream), static_cast<unsigned char>(i * threads + t));
            std::memset(mine.back().first.data(), mine.back().second, bytes);
          } else {
            std::swap(mine[random() % mine.size()], mine.back());
            damaged[std::size_t(t)] += !whole(mine.back());
            mine.pop_back();
          }
          if (random() % 8192 == 0) pool_trim({});
        }
      });
  }
  EXPECT_EQ(damaged, std::vector<long>(threads));
  EXPECT_EQ(pool_stats({}).live, live);
}

/// Runs a fixed sequence of allocations on three streams, during which memory may run out anywhere.
long course(World& world) {
  std::mt19937_64 random(3);
  std::vector<std::vector<Held>> held(3);
  long refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const int lane = int(random() % 3);
    auto& mine = held[std::size_t(lane)];
    const std::size_t bytes = some_size(random), choice = random();
    if (i % 100 == 0) world.pool.trim();
    if (mine.size() < 40 && (mine.empty() || choice % 2)) {
      try {
        mine.push_back({world.get(lane, bytes), bytes});
      } catch (const OutOfMemory&) {
        ++refused;
      }
    } else {
      world.put(lane, mine.back().block, mine.back().bytes);
      mine.pop_back();
    }
  }
  for (int lane = 0; lane < 3; ++lane)
    for (const Held& h : held[std::size_t(lane)]) world.put(lane, h.block, h.bytes);
  return refused;
}

TEST(Pool, LeaksNothingWhereverTheUpstreamFails) {
  long calls = 0;
  {
    World world(3, {.name = "sim", .keep = 0});
    EXPECT_EQ(course(world), 0);
    calls = world.upstream.calls;
  }
  ASSERT_GT(calls, 20);
  for (long n = 0; n < calls; ++n) {
    World world(3, {.name = "sim", .keep = 0});
    world.upstream.fail_at = n;
    EXPECT_EQ(course(world), 0) << "one failure is retried: " << n;
    world.pool.trim();
    EXPECT_EQ(world.upstream.blocks(), 0u) << n;
    EXPECT_EQ(world.pool.stats().live, 0u) << n;
  }
  for (std::uint64_t capacity = 0; capacity <= 96; capacity += 8) {
    World world(3);
    world.upstream.capacity = capacity << 20;
    const long refused = course(world);
    EXPECT_EQ(std::uint64_t(refused), world.pool.stats().failures) << capacity;
    world.pool.trim();
    EXPECT_EQ(world.upstream.blocks(), 0u) << capacity;
    EXPECT_EQ(world.pool.stats().live_bytes, 0u) << capacity;
  }
}

TEST(Pool, EmptiesItselfAndTriesAgainBeforeItGivesUp) {
  World world(2);
  world.upstream.capacity = 64 << 20;
  world.put(0, world.get(0, 40 << 20), 40 << 20);
  std::vector<Pool::Block> small;
  for (int i = 0; i < 32; ++i) small.push_back(world.get(0, 1 << 20));
  for (const auto& b : small) world.put(0, b, 1 << 20);
  const auto all = world.get(1, 60 << 20);
  EXPECT_EQ(world.pool.stats().retries, 1u);
  EXPECT_EQ(world.upstream.trims, 1);
  try {
    world.get(0, 8 << 20);
    FAIL();
  } catch (const OutOfMemory& e) {
    const std::string what = e.what();
    for (const char* part :
         {"sim: no memory for 8 MiB", "60 MiB live in 1 buffers", "reserved", "largest free"})
      EXPECT_NE(what.find(part), std::string::npos) << what;
  }
  world.put(1, all, 60 << 20);
}

TEST(Pool, ReusesOnTheSameStreamWithoutAnEvent) {
  World world(2);
  for (const std::size_t bytes : {std::size_t(100), std::size_t(900'000), std::size_t(5 << 20)}) {
    const auto first = world.get(0, bytes);
    world.put(0, first, bytes);
    const auto second = world.get(0, bytes);
    EXPECT_EQ(second.data, first.data);
    world.put(0, second, bytes);
  }
  EXPECT_EQ(world.upstream.records, 0);
  EXPECT_EQ(world.upstream.waits, 0);
}

TEST(Pool, WaitsOnceForEverythingAnotherStreamHasFreed) {
  World world(2);
  world.upstream.capacity = 8 << 20;
  const auto a = world.get(0, 4 << 20), b = world.get(0, 4 << 20);
  world.put(0, a, 4 << 20), world.put(0, b, 4 << 20);
  const auto c = world.get(1, 4 << 20), d = world.get(1, 4 << 20);
  EXPECT_EQ(world.upstream.records, 1);
  EXPECT_EQ(world.upstream.waits, 1);
  EXPECT_EQ(world.pool.stats().from[int(MemorySource::donated)], 1u);
  world.put(1, c, 4 << 20), world.put(1, d, 4 << 20);
}

TEST(Pool, ThatMayNotWaitTakesOtherMemory) {
  World world(2, {.name = "sim", .wait_for_streams = false});
  const auto a = world.get(0, 4 << 20);
  world.put(0, a, 4 << 20);
  const auto b = world.get(1, 4 << 20);
  EXPECT_NE(b.data, a.data);
  EXPECT_EQ(world.upstream.waits, 0);
  world.put(1, b, 4 << 20);
}

TEST(Pool, PassesByWhileItsStreamIsCaptured) {
  World world(2);
  const auto before = world.get(0, 4 << 20);
  world.put(0, before, 4 << 20);
  world.pool.close(*world.lanes[0].front);
  const auto records = world.upstream.records;
  const auto during = world.get(0, 100);
  EXPECT_EQ(during.run, nullptr);
  const auto other = world.get(1, 4 << 20);
  EXPECT_EQ(other.data, before.data) << "what was freed before the capture is marked";
  EXPECT_EQ(world.upstream.records, records) << "no event on a stream that is being captured";
  world.pool.open(*world.lanes[0].front);
  world.put(0, during, 100), world.put(1, other, 4 << 20);
  EXPECT_EQ(world.pool.stats().live, 0u);
}

TEST(Pool, KeepsNoMoreThanItIsTold) {
  World world(1, {.name = "sim", .keep = 16 << 20});
  std::vector<Pool::Block> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(world.get(0, 16 << 20));
  for (const auto& b : blocks) world.put(0, b, 16 << 20);
  EXPECT_EQ(world.upstream.reserved(), 16u << 20);
  world.pool.set_limit(32 << 20);
  EXPECT_THROW(world.get(0, 64 << 20), OutOfMemory);
  EXPECT_EQ(world.upstream.reserved(), 0u) << "the pool was emptied for the second try";
}

TEST(Pool, TakesMemoryAheadOfNeed) {
  World world(2);
  world.pool.prime(10 << 20);
  EXPECT_EQ(world.upstream.reserved(), 10u << 20);
  const auto calls = world.upstream.calls;
  const auto a = world.get(0, 5 << 20), b = world.get(1, 5 << 20);
  EXPECT_EQ(world.upstream.calls, calls);
  EXPECT_EQ(world.upstream.waits, 0) << "any stream may use it";
  world.put(0, a, 5 << 20), world.put(1, b, 5 << 20);
  world.upstream.capacity = 0;
  EXPECT_THROW(world.pool.prime(1 << 20), OutOfMemory);
}

TEST(Pool, ForgetsStreamsThatAreGone) {
  World world(1);
  for (int i = 0; i < 1000; ++i) {
    auto lane = world.add();
    const int index = int(world.lanes.size()) - 1;
    world.put(index, world.get(index, 1 << 20), 1 << 20);
    world.pool.leave(*lane.front);
    world.lanes.pop_back();
    world.upstream.advance(lane.stream);
  }
  EXPECT_EQ(world.pool.stats().allocations, 1000u);
  EXPECT_LE(world.upstream.reserved(), 4u << 20);
}

TEST(PoolStats, SayWhatTheyAreDefinedToSay) {
  World world(1);
  const auto a = world.get(0, 1000), b = world.get(0, 1'100'000);
  const PoolStats s = world.pool.stats();
  EXPECT_EQ(s.live_bytes, 1'101'000u);
  EXPECT_EQ(s.granted_bytes, 1024u + 1'105'920u);
  EXPECT_DOUBLE_EQ(s.internal_fragmentation(), 1 - 1'101'000.0 / 1'106'944);
  EXPECT_EQ(s.reserved_bytes, 2u << 20);
  EXPECT_DOUBLE_EQ(s.external_fragmentation(), 1 - double(s.largest_free) / double((2 << 20) - 1'106'944));
  EXPECT_EQ(s.largest_free, (2u << 20) - 65'536 - 1'105'920);
  EXPECT_DOUBLE_EQ(s.satisfiability, 0.5) << "1.1 MB would not fit again";
  world.put(0, a, 1000), world.put(0, b, 1'100'000);
  EXPECT_EQ(world.pool.stats().peak_bytes, 1'101'000u);
}

}  // namespace
}  // namespace kolmo::memory
