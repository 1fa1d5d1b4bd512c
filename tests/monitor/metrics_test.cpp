#include "kolmo/runtime/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "kolmo/base/error.hpp"

namespace kolmo::metrics {
namespace {

const Family* find(const std::vector<Family>& families, const std::string& name) {
  const auto found = std::find_if(families.begin(), families.end(), [&](auto& f) { return f.name == name; });
  return found == families.end() ? nullptr : &*found;
}

TEST(Buckets, TileTheAxisAndAreNarrow) {
  for (int b = 0; b + 1 < buckets::count; ++b) {
    const double low = buckets::lower(b), high = buckets::upper(b);
    ASSERT_EQ(high, buckets::lower(b + 1));
    ASSERT_EQ(buckets::index((low + high) / 2), b);
    if (low == high) continue;  // an edge that is also a regular bound has a bucket with that one value
    ASSERT_LT(low, high) << b;
    ASSERT_EQ(buckets::index(std::nextafter(low, 1e9)), b);
    if (b > 0) {
      ASSERT_LE(high - low, low / 16 * (1 + 1e-12)) << b;
    }
  }
  EXPECT_EQ(buckets::index(0), 0);
  EXPECT_EQ(buckets::index(-1), 0);
  EXPECT_EQ(buckets::index(NAN), 0);
  EXPECT_EQ(buckets::index(1e300), buckets::count - 1);
}

TEST(Buckets, CountsAtExportedEdgesAreExact) {
  Histogram h;
  for (const double e : edges) {
    h.record(std::nextafter(e, 0));
    h.record(e);  // Prometheus' `le` includes the edge
    h.record(std::nextafter(e, 1e9));
  }
  const HistogramData d = h.read();
  for (std::size_t i = 0; i < edges.size(); ++i) EXPECT_EQ(d.up_to(i), 3 * i + 2) << edges[i];
  EXPECT_EQ(d.count(), 3 * edges.size());
}

TEST(Histogram, QuantilesAreWithinABucket) {
  Histogram h;
  for (int i = 1; i <= 10000; ++i) h.record(i * 1e-6);
  const HistogramData d = h.read();
  for (const double q : {.01, .5, .9, .99, 1.}) EXPECT_NEAR(d.quantile(q), q * 1e-2, q * 1e-2 / 16) << q;
  EXPECT_NEAR(d.mean(), 5000.5e-6, 1e-12);
  EXPECT_EQ(HistogramData{}.quantile(.99), 0);
  EXPECT_EQ(HistogramData{}.mean(), 0);
}

TEST(Histogram, ADifferenceIsWhatWasRecordedBetween) {
  Histogram h;
  h.record(1e-3);
  const HistogramData before = h.read();
  h.record(2);
  h.record(3);
  HistogramData window = h.read();
  window -= before;
  EXPECT_EQ(window.count(), 2U);
  EXPECT_DOUBLE_EQ(window.sum, 5);
  EXPECT_GT(window.quantile(.01), 1.8);
}

TEST(Histogram, TakesWhateverItIsGiven) {
  Histogram h;
  for (const double bad : {double(NAN), -1., double(INFINITY)}) h.record(bad);
  EXPECT_EQ(h.read().count(), 3U);
  EXPECT_TRUE(std::isfinite(h.read().sum));
}

/// There are more threads than slots, concurrently and in sequence, and no count is lost.
TEST(Metrics, ThreadsLoseNothing) {
  Histogram h;
  Counter c;
  constexpr int together = 160, rounds = 3, each = 500;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::jthread> threads;
    for (int t = 0; t < together; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < each; ++i) h.record(1e-3), c.add(2);
      });
  }
  EXPECT_EQ(h.read().count(), std::uint64_t(together) * rounds * each);
  EXPECT_EQ(c.value(), 2. * together * rounds * each);
}

TEST(Metrics, AreFoundAgainWhateverTheOrderOfLabels) {
  Counter& a = counter("kolmo_test_found_total", {{"a", "1"}, {"b", "2"}}, "help");
  EXPECT_EQ(&a, &counter("kolmo_test_found_total", {{"b", "2"}, {"a", "1"}}));
  EXPECT_NE(&a, &counter("kolmo_test_found_total", {{"a", "1"}, {"b", "3"}}));
}

TEST(Metrics, RefusesBadNamesAndChangedKinds) {
  EXPECT_THROW(counter(""), InvalidArgument);
  EXPECT_THROW(counter("kolmo-test"), InvalidArgument);
  EXPECT_THROW(counter("1kolmo"), InvalidArgument);
  EXPECT_THROW(gauge("kolmo_test_label", {{"a b", ""}}), InvalidArgument);
  EXPECT_THROW(histogram("kolmo_test_label", {{"le", "1"}}), InvalidArgument);
  counter("kolmo_test_kind_total");
  EXPECT_THROW(gauge("kolmo_test_kind_total"), InvalidArgument);
}

TEST(Metrics, CollectRunsUpdatesAndLeavesOutWhatWasNeverSet) {
  gauge("kolmo_test_unset");
  Gauge& g = gauge("kolmo_test_set", {{"x", "y"}}, "what it is");
  on_scrape([&g] { g.set(7), gauge("kolmo_test_made_when_read").set(1); });
  const auto families = collect();
  EXPECT_EQ(find(families, "kolmo_test_unset"), nullptr);
  EXPECT_NE(find(families, "kolmo_test_made_when_read"), nullptr);
  const Family* f = find(families, "kolmo_test_set");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->help, "what it is");
  EXPECT_EQ(f->kind, Kind::gauge);
  ASSERT_EQ(f->readings.size(), 1U);
  EXPECT_EQ(f->readings[0].value, 7);
  EXPECT_EQ(f->readings[0].labels, (Labels{{"x", "y"}}));
}

TEST(Metrics, GaugeAddsFromZero) {
  Gauge g;
  EXPECT_TRUE(std::isnan(g.value()));
  g.add(2);
  g.add(-.5);
  EXPECT_EQ(g.value(), 1.5);
}

/// The test runs in its own process, because the names stay registered.
TEST(MetricsDeathTest, KernelsBeyond256AreOther) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto body = [] {
    for (int i = 0; i < 262; ++i)
      counter("kolmo_test_many_total", {{"kernel", "k" + std::to_string(i)}}).add();
    const auto families = collect();
    const Family* f = find(families, "kolmo_test_many_total");
    const Counter& other = counter("kolmo_test_many_total", {{"kernel", "other"}});
    std::_Exit(f->readings.size() == 257 && other.value() == 6 ? 0 : 1);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kolmo::metrics
