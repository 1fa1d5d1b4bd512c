#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "kolmo/monitor/memory/analysis.hpp"
#include "kolmo/monitor/memory/packing.hpp"

namespace kolmo::memory {
namespace {

constexpr std::uint64_t mib = 1 << 20;

TEST(Packing, OfBlocksThatDoNotMeetIsTheLargest) {
  EXPECT_EQ(packed_bytes({{1000, 0, 1}, {5000, 1, 2}, {300, 2, 3}}), 5120u);
  EXPECT_EQ(peak_bytes({{1000, 0, 1}, {5000, 1, 2}, {300, 2, 3}}), 5120u);
  EXPECT_EQ(packed_bytes({}), 0u);
}

TEST(Packing, KnowsTheFuture) {
  // First fit in order puts the third block behind the second. Placing the largest block first does not.
  const std::vector<Life> lives{{256, 0, 2}, {256, 1, 4}, {512, 2, 4}};
  EXPECT_EQ(peak_bytes(lives), 768u);
  EXPECT_EQ(packed_bytes(lives), 768u);
}

TEST(Packing, LiesBetweenThePeakAndTheSum) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<Life> lives;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < 100; ++i) {
      const std::size_t begin = random() % 200;
      lives.push_back({256 * (1 + random() % 64), begin, begin + 1 + random() % 40});
      sum += lives.back().bytes;
    }
    EXPECT_LE(peak_bytes(lives), packed_bytes(lives));
    EXPECT_LT(packed_bytes(lives), sum);
    EXPECT_LT(double(packed_bytes(lives)), 1.3 * double(peak_bytes(lives)));
  }
}

TEST(TheilSen, IsTheMedianSlope) {
  EXPECT_EQ(theil_sen({0, 2, 4, 6}), 2);
  EXPECT_EQ(theil_sen({0, 1, 2, 3, 100, 5, 6}), 1) << "one outlier does not matter";
  EXPECT_EQ(theil_sen({7}), 0);
}

/// A trace constructed by hand, one second long.
class Course {
 public:
  Course() {
    trace.seconds = 1, trace.tags = {"", "work", "cache"};
    trace.pools.resize(1);
    end().name = "cpu";
  }
  PoolStats& end() { return trace.pools[0].stats; }
  void reserve(std::uint64_t bytes) { add(Action::reserve, 0, bytes, bytes), end().reserved_bytes += bytes; }
  void release(std::uint64_t bytes) { add(Action::release, 0, bytes, bytes), end().reserved_bytes -= bytes; }
  std::uint64_t allocate(std::uint64_t requested, std::uint64_t granted, int tag = 0, int stream = 0) {
    next_ += granted;
    add(Action::allocate, next_, requested, granted, tag, stream);
    end().live_bytes += requested, end().granted_bytes += granted;
    return next_;
  }
  void free(std::uint64_t address, std::uint64_t requested, std::uint64_t granted, int tag = 0,
            int stream = 0) {
    add(Action::free, address, requested, granted, tag, stream);
    end().live_bytes -= requested, end().granted_bytes -= granted;
  }
  void at(double seconds) { now_ = std::uint64_t(seconds * 1e9); }
  PoolAnalysis analysis() const { return analyse(trace, 0); }
  const Recommendation* advice(const std::string& rule) {
    last_ = analysis();
    const auto at = std::find_if(last_.recommendations.begin(), last_.recommendations.end(),
                                 [&](const Recommendation& r) { return r.rule == rule; });
    return at == last_.recommendations.end() ? nullptr : &*at;
  }
  Trace trace;

 private:
  void add(Action action, std::uint64_t address, std::uint64_t requested, std::uint64_t granted, int tag = 0,
           int stream = 0) {
    trace.events.push_back({now_, address, requested, granted, std::uint16_t(tag), std::uint16_t(stream), 0,
                            0, action, MemorySource::front});
  }
  std::uint64_t now_ = 0, next_ = 1 << 20;
  PoolAnalysis last_;
};

TEST(Analysis, FindsPeaksAndBounds) {
  Course c;
  c.reserve(4 * mib);
  const auto a = c.allocate(1000, 1024), b = c.allocate(mib, mib);
  c.at(0.25);
  c.free(b, mib, mib);
  const auto d = c.allocate(2 * mib, 2 * mib);
  c.at(0.75);
  c.free(d, 2 * mib, 2 * mib);
  const PoolAnalysis r = c.analysis();
  EXPECT_EQ(r.peak_requested, 2 * mib + 1000);
  EXPECT_EQ(r.peak_granted, 2 * mib + 1024);
  EXPECT_EQ(r.peak_seconds, 0.25);
  EXPECT_EQ(r.peak_internal_fragmentation, 1 - double(2 * mib + 1000) / double(2 * mib + 1024));
  EXPECT_EQ(r.reserved_peak, 4 * mib);
  EXPECT_EQ(r.lower_bound, 2 * mib + 1024);
  EXPECT_EQ(r.packed, 2 * mib + 1024);
  EXPECT_DOUBLE_EQ(r.reuse_potential, 1 - double(2 * mib + 1024) / double(4 * mib));
  EXPECT_EQ(r.allocations, 3u);
  EXPECT_EQ(r.from[int(MemorySource::front)], 3u);
  EXPECT_EQ(r.course[0].requested, mib + 1000);
  EXPECT_EQ(r.course[36].requested, 2 * mib + 1000);
  EXPECT_EQ(r.course[71].requested, 1000u);
  EXPECT_EQ(r.sizes[0].requested, 2 * mib);
  (void)a;
}

TEST(Analysis, CountsWhatWasLiveBeforeTheTrace) {
  Course c;
  c.end().live_bytes = 3000, c.end().granted_bytes = 3072, c.end().reserved_bytes = 8 * mib;
  c.free(77, 1000, 1024);
  const PoolAnalysis r = c.analysis();
  EXPECT_EQ(r.peak_requested, 3000u);
  EXPECT_EQ(r.peak_internal_fragmentation, 1 - 3000. / 3072) << "the peak is at the beginning";
  EXPECT_EQ(r.reserved_peak, 8 * mib);
  EXPECT_EQ(r.lower_bound, 1024u + 2048u) << "the freed one, and the rest as one block";
}

TEST(Analysis, FragmentationAtAPeakThatMayBeLostIsNotKnown) {
  Course c;
  c.allocate(3000, 4096);
  c.trace.lost = 7;
  c.end().peak_bytes = 3000;
  EXPECT_EQ(c.analysis().peak_internal_fragmentation, 1 - 3000. / 4096) << "the peak is among what is left";
  EXPECT_FALSE(c.analysis().peak_may_be_lost);
  c.end().peak_bytes = 3001;
  EXPECT_EQ(c.analysis().peak_internal_fragmentation, std::nullopt);
  EXPECT_TRUE(c.analysis().peak_may_be_lost);
  c.trace.lost = 0;  // the higher peak then was before the trace began
  EXPECT_EQ(c.analysis().peak_internal_fragmentation, 1 - 3000. / 4096);
}

TEST(Analysis, FragmentationIsNotKnownWhereEventsContradictTheEnd) {
  Course c;
  EXPECT_EQ(c.analysis().peak_internal_fragmentation, std::nullopt) << "nothing was live";
  c.allocate(3000, 4096);
  c.end().granted_bytes = 0;
  EXPECT_EQ(c.analysis().peak_internal_fragmentation, std::nullopt);
  Course less;
  less.allocate(3000, 2000);
  EXPECT_EQ(less.analysis().peak_internal_fragmentation, std::nullopt) << "more requested than granted";
}

TEST(Analysis, SuspectsWhatGrowsAndNeverDies) {
  Course leak, steady;
  for (int i = 0; i < 240; ++i) {
    leak.at(i / 240.0), steady.at(i / 240.0);
    leak.allocate(4096, 4096, 2);
    for (Course* c : {&leak, &steady}) {
      const auto scratch = c->allocate(512, 512, 1);
      c->at((i + 0.1) / 240);
      c->free(scratch, 512, 512, 1);
    }
  }
  const PoolAnalysis a = leak.analysis(), b = steady.analysis();
  const auto tag = [](const PoolAnalysis& r, const char* name) {
    return *std::find_if(r.tags.begin(), r.tags.end(), [&](const TagUse& t) { return t.tag == name; });
  };
  EXPECT_TRUE(tag(a, "cache").leak_suspect);
  EXPECT_NEAR(tag(a, "cache").slope, 240 * 4096, 24 * 4096);
  EXPECT_FALSE(tag(a, "work").leak_suspect);
  EXPECT_FALSE(tag(b, "work").leak_suspect);
}

TEST(Rules, SayNothingAboutNothing) {
  Course c;
  c.reserve(2 * mib);
  c.free(c.allocate(1000, 1024), 1000, 1024);
  EXPECT_TRUE(c.analysis().recommendations.empty());
}

TEST(Rules, RaiseWhatIsKept) {
  Course c;
  for (int i = 0; i < 5; ++i) c.reserve(32 * mib), c.release(32 * mib);
  const auto* r = c.advice("raise-keep");
  ASSERT_TRUE(r);
  EXPECT_EQ(r->bytes, 4 * 32 * mib);
}

TEST(Rules, TrimWhatIsUnused) {
  Course c;
  c.reserve(128 * mib);
  c.trace.pools[0].chunks = {{0, 128 * mib, {{0, 128 * mib, false}}}};
  const auto* r = c.advice("trim");
  ASSERT_TRUE(r);
  EXPECT_EQ(r->bytes, 128 * mib);
  c.trace.pools[0].chunks[0].blocks[0].used = true;
  EXPECT_FALSE(c.advice("trim"));
}

TEST(Rules, PrimeWhatGrowsInSteps) {
  Course c;
  for (int i = 0; i < 8; ++i) c.reserve(2 * mib);
  const auto* r = c.advice("prime");
  ASSERT_TRUE(r);
  EXPECT_EQ(r->bytes, 16 * mib);
  c.release(2 * mib);
  EXPECT_FALSE(c.advice("prime"));
}

TEST(Rules, AddAClassForASizeThatWastes) {
  Course c;
  c.reserve(64 * mib);
  for (int i = 0; i < 100; ++i) c.allocate(100'000, 114'688 + 8192);
  const auto* r = c.advice("add-class");
  ASSERT_TRUE(r);
  EXPECT_EQ(r->bytes, 100u * (114'688 + 8192 - 100'000));
}

TEST(Rules, GiveACrowdedTagItsOwnBuffer) {
  Course c;
  c.reserve(2 * mib);
  for (int i = 0; i < 1000; ++i) {
    c.at(i / 1000.0);
    c.free(c.allocate(300, 512, 1), 300, 512, 1);
  }
  const auto* r = c.advice("arena");
  ASSERT_TRUE(r);
  EXPECT_EQ(r->bytes, 300u);
}

TEST(Rules, MergeStreamsThatPeakInTurn) {
  Course c;
  c.reserve(64 * mib);
  for (int stream = 0; stream < 2; ++stream)
    c.free(c.allocate(32 * mib, 32 * mib, 0, stream), 32 * mib, 32 * mib, 0, stream);
  const auto* r = c.advice("merge-streams");
  ASSERT_TRUE(r);
  EXPECT_EQ(r->bytes, 32 * mib);
}

TEST(Rules, CapPinnedMemory) {
  Course c;
  c.end().name = "pinned cuda:0";
  c.reserve(64 * mib);
  c.allocate(8 * mib, 8 * mib);
  const auto* r = c.advice("cap-pinned");
  ASSERT_TRUE(r);
  EXPECT_EQ(r->bytes, 56 * mib);
}

TEST(Rules, HoistAllocationsOutOfLoops) {
  Course c;
  c.reserve(64 * mib);
  for (int i = 0; i < 100; ++i) c.free(c.allocate(mib, mib, 1), mib, mib, 1);
  const auto* r = c.advice("hoist");
  ASSERT_TRUE(r);
  EXPECT_EQ(r->bytes, 99 * mib);
  c.allocate(mib, mib, 1), c.allocate(mib, mib, 1);
  EXPECT_FALSE(c.advice("hoist")) << "two at once";
}

}  // namespace
}  // namespace kolmo::memory
