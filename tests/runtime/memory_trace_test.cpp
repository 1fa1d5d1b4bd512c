#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "kolmo/io/json.hpp"
#include "kolmo/monitor/memory/analysis.hpp"
#include "kolmo/monitor/memory/export.hpp"
#include "kolmo/runtime/memory/pool.hpp"
#include "kolmo/runtime/memory/tracker.hpp"
#include "kolmo/runtime/metrics.hpp"
#include "kolmo/runtime/stream.hpp"
#include "tests/runtime/memory_world.hpp"

namespace kolmo::memory {
namespace {

std::vector<TraceEvent> of_pool(const Trace& trace, const std::string& name) {
  std::vector<TraceEvent> events;
  for (const TraceEvent& e : trace.events)
    if (trace.pools.at(e.pool).stats.name == name) events.push_back(e);
  return events;
}

TEST(Tracker, RecordsWhatAPoolDoes) {
  SimulatedUpstream upstream;
  start_tracking();
  Trace trace;
  {
    Pool pool(upstream, {.name = "traced"});
    Front& front = pool.enter(upstream.make_stream());
    Pool::Block a, b;
    {
      const Tag outer("outer");
      a = pool.allocate(front, 1000);
      const Tag inner("inner");
      b = pool.allocate(front, 3'000'000);
    }
    pool.deallocate(front, a, 1000);
    trace = stop_tracking();
    pool.deallocate(front, b, 3'000'000);
    pool.leave(front);
  }
  const auto events = of_pool(trace, "traced");
  ASSERT_EQ(events.size(), 5u);
  const Action want[] = {Action::reserve, Action::allocate, Action::reserve, Action::allocate, Action::free};
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].action, want[i]) << i;
  EXPECT_EQ(events[0].granted, 2u << 20);
  EXPECT_EQ(events[1].requested, 1000u);
  EXPECT_EQ(events[1].granted, 1024u);
  EXPECT_EQ(trace.tags[events[1].tag], "outer");
  EXPECT_EQ(trace.tags[events[3].tag], "inner");
  EXPECT_EQ(events[1].source, MemorySource::upstream);
  EXPECT_EQ(events[4].address, events[1].address);
  EXPECT_GE(events[4].nanoseconds, events[1].nanoseconds);
  const TracePool& pool = trace.pools[events[0].pool];
  EXPECT_EQ(pool.stats.live, 1u);
  std::uint64_t used = 0, all = 0;
  for (const TraceChunk& c : pool.chunks)
    for (const TraceBlock& b : c.blocks) all += b.bytes, used += b.used ? b.bytes : 0;
  EXPECT_EQ(used, pool.stats.granted_bytes);
  EXPECT_EQ(all, pool.stats.reserved_bytes);
}

TEST(Tracker, OffRecordsNothing) {
  start_tracking();
  stop_tracking();
  { const Buffer b(100, *std::make_unique<Stream>()); }
  const Tag tag("not interned");
  EXPECT_EQ(Tag::now(), 0);
  EXPECT_FALSE(tracking);
}

TEST(Tracker, KeepsTheNewestAndSaysHowManyItLost) {
  start_tracking(16);
  for (std::uint64_t i = 0; i < 100; ++i) record({.address = i, .requested = 2 * i});
  const Trace trace = stop_tracking();
  ASSERT_EQ(trace.events.size(), 16u);
  EXPECT_EQ(trace.lost, 84u);
  for (std::uint64_t i = 0; i < 16; ++i) EXPECT_EQ(trace.events[i].address, 84 + i);
}

TEST(Tracker, TakesWholeEventsFromManyThreads) {
  start_tracking(1 << 10);
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 4; ++t)
      threads.emplace_back([t] {
        for (std::uint64_t i = 0; i < 20'000; ++i) {
          const std::uint64_t n = t << 32 | i;
          record({.address = n, .requested = ~n, .granted = n ^ 0x5555, .stream = std::uint16_t(i)});
        }
      });
    for (int i = 0; i < 20; ++i)
      for (const TraceEvent& e : stop_tracking().events) ASSERT_EQ(e.requested, ~e.address);
  }
  const Trace trace = stop_tracking();
  EXPECT_EQ(trace.events.size() + trace.lost, 80'000u);
  EXPECT_GT(trace.events.size(), 900u);
  for (const TraceEvent& e : trace.events) {
    ASSERT_EQ(e.requested, ~e.address);
    ASSERT_EQ(e.granted, e.address ^ 0x5555);
    ASSERT_EQ(e.stream, std::uint16_t(e.address));
  }
}

Trace small_trace() {
  Trace t;
  t.began = "2026-01-01T00:00:00Z", t.seconds = 2, t.tags = {"", "weights"};
  t.pools.resize(1);
  t.pools[0].stats.name = "cpu";
  t.pools[0].chunks = {{4096, 2 << 20, {{4096, 1024, true}, {5120, (2 << 20) - 1024, false}}}};
  const auto add = [&](Action action, std::uint64_t at, std::uint64_t address, std::uint64_t requested,
                       std::uint64_t granted) {
    t.events.push_back({at, address, requested, granted, 1, 3, 2, 0, action, MemorySource::chunk});
  };
  add(Action::reserve, 1000, 4096, 2 << 20, 2 << 20);
  add(Action::allocate, 3'723'000'004'000, 4096, 1000, 1024);
  add(Action::free, 3'723'000'005'000, 4096, 1000, 1024);
  add(Action::fail, 3'723'000'006'000, 0, 1ull << 40, 1ull << 40);
  return t;
}

nlohmann::ordered_json json_of(const std::string& text) {
  return parse_json<nlohmann::ordered_json>(text, "t.json");
}

TEST(Trace, IsReadAsItWasWritten) {
  const Trace trace = small_trace();
  const std::string text = to_json(trace).dump();
  EXPECT_EQ(to_json(read_trace(json_of(text), "f")).dump(), text);
}

TEST(Trace, ThatIsNotOneIsRefused) {
  const auto refused = [](const std::string& text) {
    try {
      read_trace(json_of(text), "t.json");
      return std::string("accepted");
    } catch (const InvalidArgument& e) {
      return std::string(e.what());
    }
  };
  nlohmann::ordered_json j = to_json(small_trace());
  const std::string whole = j.dump();
  for (const std::string& text :
       {std::string("[]"), std::string("{}"), std::string("3"), std::string("\"x\"")})
    EXPECT_EQ(refused(text).rfind("t.json: is not a memory trace", 0), 0u) << refused(text);
  for (const std::string& text : {std::string(), whole.substr(0, whole.size() / 2)})
    EXPECT_EQ(refused(text).rfind("t.json: is no JSON", 0), 0u) << refused(text);
  j["version"] = 2;
  EXPECT_NE(refused(j.dump()).find("version 2"), std::string::npos);
  for (const int column : {1, 2, 6, 8}) {
    j = to_json(small_trace());
    j["events"][0][std::size_t(column)] = 99;
    EXPECT_NE(refused(j.dump()).find("out of range"), std::string::npos) << column;
  }
  for (const nlohmann::ordered_json& number : {nlohmann::ordered_json(1.39972e21), {-1}, {1.5}, {"1"}})
    for (const std::size_t column : {0u, 3u, 9u}) {
      j = to_json(small_trace());
      j["events"][0][column] = number.is_array() ? number[0] : number;
      EXPECT_NE(refused(j.dump()).find("where a whole number belongs"), std::string::npos) << number;
    }
}

TEST(Trace, ThatIsDamagedIsRefusedOrReadSafely) {
  const std::string whole = to_json(small_trace()).dump();
  std::mt19937_64 random(2);
  int accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = whole;
    for (int n = 0; n < 3; ++n) text[random() % text.size()] = "0123456789,[]-.e"[random() % 16];
    try {
      const Trace trace = read_trace(json_of(text), "t.json");
      for (std::size_t pool = 0; pool < trace.pools.size(); ++pool) {
        analyse(trace, pool);
        pytorch_snapshot(trace, pool), rmm_csv(trace, pool);
      }
      ++accepted;
    } catch (const InvalidArgument&) {}
  }
  EXPECT_GT(accepted, 50) << "some damage only changes numbers";
}

TEST(Export, WritesRmmsLog) {
  EXPECT_EQ(rmm_csv(small_trace(), 0),
            "Thread,Time,Action,Pointer,Size,Stream\n"
            "2,01:02:03:000004,allocate,0x1000,1000,3\n"
            "2,01:02:03:000005,free,0x1000,1000,3\n"
            "2,01:02:03:000006,allocate failure,0x0,1099511627776,3\n");
}

TEST(Metrics, OfAPoolAreItsState) {
  SimulatedUpstream upstream;
  Pool pool(upstream, {.name = "measured", .limit = 8 << 20});
  Front& front = pool.enter(upstream.make_stream());
  const auto block = pool.allocate(front, 1000);
  EXPECT_THROW(pool.allocate(front, 16 << 20), OutOfMemory);
  std::map<std::string, double> values;
  for (const metrics::Family& f : metrics::collect())
    for (const metrics::Reading& s : f.readings) {
      std::string pool, rest;
      for (const auto& [label, value] : s.labels) (label == "pool" ? pool : rest) = value;
      if (pool == "measured") values[f.name + (rest.empty() ? "" : "/" + rest)] = s.value;
    }
  EXPECT_EQ(values.at("kolmo_pool_used_bytes"), 1024);
  EXPECT_EQ(values.at("kolmo_pool_reserved_bytes"), 2 << 20);
  EXPECT_EQ(values.at("kolmo_pool_limit_bytes"), 8 << 20);
  EXPECT_EQ(values.at("kolmo_pool_peak_bytes"), 1000);
  EXPECT_EQ(values.at("kolmo_pool_live_allocations"), 1);
  EXPECT_EQ(values.at("kolmo_pool_allocations_total/upstream"), 1);
  EXPECT_EQ(values.at("kolmo_pool_failures_total/first"), 1);
  EXPECT_EQ(values.at("kolmo_pool_failures_total/final"), 1);
  EXPECT_EQ(values.at("kolmo_pool_fragmentation_ratio/internal"), 1 - 1000.0 / 1024);
  EXPECT_EQ(values.at("kolmo_pool_fragmentation_ratio/external"), pool.stats().external_fragmentation());
  pool.deallocate(front, block, 1000);
  pool.leave(front);
}

}  // namespace
}  // namespace kolmo::memory
