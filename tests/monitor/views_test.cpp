#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/monitor/exposition.hpp"
#include "kolmo/monitor/history.hpp"
#include "kolmo/monitor/snapshot.hpp"

namespace kolmo::monitor {
namespace {

using metrics::Family;
using metrics::Kind;

Family counter(const std::string& name, metrics::Labels labels, double value) {
  return {name, "", Kind::counter, {{std::move(labels), value, {}}}};
}
Family gauge(const std::string& name, metrics::Labels labels, double value) {
  return {name, "", Kind::gauge, {{std::move(labels), value, {}}}};
}
Family histogram(const std::string& name, metrics::Labels labels, const metrics::Histogram& h) {
  return {name, "", Kind::histogram, {{std::move(labels), 0, h.read()}}};
}

TEST(Exposition, IsPrometheusText) {
  Family c = counter("kolmo_a_total", {{"path", "C:\\\"x\"\n"}}, 3);
  c.help = "a \\ and\na \"line\"";
  EXPECT_EQ(prometheus_text({c, gauge("kolmo_b", {}, 0.1), gauge("kolmo_c", {}, INFINITY)}),
            "# HELP kolmo_a_total a \\\\ and\\na \"line\"\n"
            "# TYPE kolmo_a_total counter\n"
            "kolmo_a_total{path=\"C:\\\\\\\"x\\\"\\n\"} 3\n"
            "# TYPE kolmo_b gauge\n"
            "kolmo_b 0.1\n"
            "# TYPE kolmo_c gauge\n"
            "kolmo_c +Inf\n");
}

TEST(Exposition, BucketsAreCumulativeAndHoldTheObjective) {
  metrics::Histogram h;
  for (const double s : {0.5e-3, 9.9e-3, 10e-3, 10.1e-3, 500.}) h.record(s);
  const std::string text = prometheus_text({histogram("kolmo_t_seconds", {{"pipeline", "p"}}, h)});
  const auto has = [&](const std::string& line) { return text.find(line + "\n") != std::string::npos; };
  EXPECT_TRUE(has("# TYPE kolmo_t_seconds histogram"));
  EXPECT_TRUE(has("kolmo_t_seconds_bucket{pipeline=\"p\",le=\"0.0005\"} 1")) << text;
  EXPECT_TRUE(has("kolmo_t_seconds_bucket{pipeline=\"p\",le=\"0.01\"} 3")) << text;
  EXPECT_TRUE(has("kolmo_t_seconds_bucket{pipeline=\"p\",le=\"120\"} 4"));
  EXPECT_TRUE(has("kolmo_t_seconds_bucket{pipeline=\"p\",le=\"+Inf\"} 5"));
  EXPECT_TRUE(has("kolmo_t_seconds_count{pipeline=\"p\"} 5"));
  EXPECT_TRUE(has("kolmo_t_seconds_sum{pipeline=\"p\"} 500.0305"));
}

TEST(History, RatesAreThoseOfTheWindow) {
  History h;
  double total = 0;
  EXPECT_TRUE(std::isnan(h.rate("kolmo_a_total", 10)));
  for (int t = 0; t <= 60; ++t) {
    total += t <= 30 ? 100 : 5;
    h.add(1000 + t, {counter("kolmo_a_total", {}, total)});
  }
  EXPECT_NEAR(h.rate("kolmo_a_total", 10), 5, 1e-9);
  EXPECT_NEAR(h.rate("kolmo_a_total", 60), (30 * 100 + 30 * 5) / 60., 1e-9);
  EXPECT_TRUE(std::isnan(h.rate("kolmo_b_total", 10)));
  const auto values = h.values("kolmo_a_total");
  ASSERT_EQ(values.size(), 61U);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_NEAR(values[1], 100, 1e-9);
  EXPECT_NEAR(values[60], 5, 1e-9);
}

TEST(History, QuantilesAreOfWhatWasRecordedInTheWindow) {
  History h;
  metrics::Histogram slow;
  for (int i = 0; i < 1000; ++i) slow.record(1);  // before the first reading
  for (int t = 0; t <= 100; ++t) {
    for (int i = 0; i < 10; ++i) slow.record(t <= 50 ? 0.1 : 0.001);
    h.add(t, {histogram("kolmo_t_seconds", {}, slow)});
  }
  const History::Window last = h.window("kolmo_t_seconds", 10), all = h.window("kolmo_t_seconds", 300);
  EXPECT_EQ(last.data.count(), 100U);
  EXPECT_NEAR(last.data.quantile(0.99), 0.001, 0.001 / 16);
  EXPECT_EQ(last.seconds, 10);
  EXPECT_EQ(all.data.count(), 1000U) << "what was before the first collection is in no window";
  EXPECT_NEAR(all.data.quantile(0.99), 0.1, 0.1 / 16);
  EXPECT_NEAR(all.data.mean(), 0.0505, 1e-3);
  EXPECT_EQ(all.seconds, 100);
}

TEST(History, ForgetsWhatIsOlderThanFiveMinutes) {
  History h;
  metrics::Histogram seen;
  for (int t = 0; t <= 1000; ++t) {
    seen.record(1);
    h.add(t, {histogram("kolmo_t_seconds", {}, seen), gauge("kolmo_g", {}, t)});
  }
  EXPECT_EQ(h.times().size(), 301U);
  EXPECT_EQ(h.values("kolmo_g").front(), 700);
  EXPECT_EQ(h.window("kolmo_t_seconds", 1e9).data.count(), 301U);
}

TEST(Snapshot, GroupsMetricsByWhatTheyAreAbout) {
  metrics::Histogram latency;
  History h;
  const auto families = [&](double t) {
    return std::vector<Family>{
        counter("kolmo_kernel_launches_total", {{"device", "cpu"}, {"kernel", "a"}}, 10 * t),
        histogram("kolmo_pipeline_latency_seconds", {{"pipeline", "p"}}, latency),
        gauge("kolmo_gpu_info", {{"gpu", "0"}, {"model", "M"}, {"uuid", "U"}}, 1),
        gauge("kolmo_gpu_throttled", {{"gpu", "0"}, {"reason", "thermal"}, {"uuid", "U"}}, 1),
        gauge("kolmo_pool_fragmentation_ratio", {{"kind", "external"}, {"pool", "x"}}, 0.25)};
  };
  h.add(1, families(1));
  for (int i = 0; i < 100; ++i) latency.record(2e-3);
  h.add(2, families(2));
  const auto s = snapshot(families(2), h);
  EXPECT_EQ(s["schema"], 1);
  ASSERT_EQ(s["kernel"].size(), 1U);
  EXPECT_EQ(s["kernel"][0]["kernel"], "a");
  EXPECT_EQ(s["kernel"][0]["device"], "cpu");
  EXPECT_EQ(s["kernel"][0]["launches_total"], 20);
  EXPECT_EQ(s["kernel"][0]["launches_per_second"], 10);
  const auto& p = s["pipeline"][0];
  EXPECT_EQ(p["pipeline"], "p");
  EXPECT_EQ(p["latency_seconds"]["1m"]["count"], 100);
  EXPECT_NEAR(p["latency_seconds"]["10s"]["p99"].get<double>(), 2e-3, 2e-3 / 16);
  ASSERT_EQ(s["gpu"].size(), 1U);
  EXPECT_EQ(s["gpu"][0]["model"], "M");
  EXPECT_EQ(s["gpu"][0]["throttled"]["thermal"], 1);
  EXPECT_EQ(s["pool"][0]["fragmentation_ratio"]["external"], 0.25);
  EXPECT_TRUE(s["tuner"].empty());
}

TEST(Snapshot, CurvesHaveNullWhereNothingIsKnown) {
  History h;
  h.add(1, {});
  h.add(2, {gauge("kolmo_gpu_busy_ratio", {{"gpu", "0"}}, 0.5)});
  const auto c = curves({gauge("kolmo_gpu_busy_ratio", {{"gpu", "0"}}, 0.5)}, h);
  EXPECT_EQ(c["seconds"].size(), 2U);
  const auto& values = c["series"]["kolmo_gpu_busy_ratio{gpu=\"0\"}"];
  EXPECT_TRUE(values[0].is_null());
  EXPECT_EQ(values[1], 0.5);
}

}  // namespace
}  // namespace kolmo::monitor
