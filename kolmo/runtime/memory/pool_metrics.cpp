#include "kolmo/runtime/memory/pool_metrics.hpp"

#include <map>
#include <mutex>

#include "kolmo/runtime/memory/tracker.hpp"
#include "kolmo/runtime/metrics.hpp"

namespace kolmo::memory {
namespace {

struct Published {
  PoolView view;
  PoolStats last;  // counters at the last scrape
};
struct Watched {
  std::mutex mutex;
  std::map<const void*, Published> pools;
};
Watched& watched() {
  static auto& all = *new Watched;  // never destroyed: it must outlive every pool
  return all;
}

metrics::Labels with(const PoolStats& s, const char* label = nullptr, const char* value = nullptr) {
  metrics::Labels labels{{"pool", s.name}};
  if (label) labels.emplace_back(label, value);
  return labels;
}

void publish(const PoolStats& now, const PoolStats& before) {
  const auto gauge = [&](const char* name, double value, const char* help) {
    metrics::gauge(name, with(now), help).set(value);
  };
  gauge("kolmo_pool_used_bytes", double(now.granted_bytes), "Bytes handed out, as rounded up");
  gauge("kolmo_pool_reserved_bytes", double(now.reserved_bytes),
        "Bytes taken from the driver or the C library");
  if (now.limit_bytes != ~0ull)
    gauge("kolmo_pool_limit_bytes", double(now.limit_bytes), "Bytes the pool may reserve");
  gauge("kolmo_pool_peak_bytes", double(now.peak_bytes), "Most bytes that were live at once, as asked for");
  gauge("kolmo_pool_live_allocations", double(now.live), "Buffers that are live");
  gauge("kolmo_pool_satisfiability_ratio", now.satisfiability,
        "Share of the latest sizes asked for that the largest free block could hold");
  constexpr auto fragmentation = "kolmo_pool_fragmentation_ratio";
  constexpr auto what = "internal: 1 - asked for / handed out; external: 1 - largest free block / free bytes";
  metrics::gauge(fragmentation, with(now, "kind", "internal"), what).set(now.internal_fragmentation());
  metrics::gauge(fragmentation, with(now, "kind", "external"), what).set(now.external_fragmentation());
  for (int i = 0; i < memory_sources; ++i)
    metrics::counter("kolmo_pool_allocations_total", with(now, "source", memory_source_names[i]),
                     "Allocations by where the memory came from")
        .add(double(now.from[i] - before.from[i]));
  constexpr auto failures = "kolmo_pool_failures_total";
  constexpr auto help = "Allocations that found no memory at first, and in the end";
  metrics::counter(failures, with(now, "stage", "first"), help).add(double(now.retries - before.retries));
  metrics::counter(failures, with(now, "stage", "final"), help).add(double(now.failures - before.failures));
}

void publish_all() {
  auto& [mutex, pools] = watched();
  const std::scoped_lock lock(mutex);
  for (auto& [pool, published] : pools) {
    PoolStats now = published.view.stats();
    publish(now, published.last);
    published.last = std::move(now);
  }
}

}  // namespace

void publish_metrics_of(const void* pool, PoolView view) {
  static const bool registered = (metrics::on_scrape(publish_all), true);
  (void)registered;
  auto& [mutex, pools] = watched();
  const std::scoped_lock lock(mutex);
  pools.emplace(pool, Published{std::move(view), {}});
}

void withdraw_metrics_of(const void* pool) {
  auto& [mutex, pools] = watched();
  const std::scoped_lock lock(mutex);
  pools.erase(pool);
}

std::vector<TracePool> traced_pools() {
  auto& [mutex, pools] = watched();
  const std::scoped_lock lock(mutex);
  std::vector<TracePool> all;
  for (const auto& [pool, published] : pools) {
    TracePool now = published.view.snapshot();
    const std::size_t at = traced_pool(now.stats.name);
    if (all.size() <= at) all.resize(at + 1);
    all[at] = std::move(now);
  }
  return all;
}

}  // namespace kolmo::memory
