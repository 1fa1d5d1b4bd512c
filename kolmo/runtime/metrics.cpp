#include "kolmo/runtime/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "kolmo/base/error.hpp"

namespace kolmo::metrics {

namespace detail {
constinit thread_local int thread_slot = -1;

namespace {
struct FreeSlots {
  std::mutex mutex;
  std::vector<int> free;
  FreeSlots() {
    for (int s = slots - 1; s > 0; --s) free.push_back(s);
  }
};
FreeSlots& free_slots() {
  static auto& all = *new FreeSlots;  // never destroyed: threads may end after static objects
  return all;
}
struct Claim {
  int slot = 0;
  Claim() {
    const std::scoped_lock lock(free_slots().mutex);
    if (free_slots().free.empty()) return;
    slot = free_slots().free.back();
    free_slots().free.pop_back();
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() {
    thread_slot = 0;  // later destructors of this thread record in slot 0
    if (!slot) return;
    const std::scoped_lock lock(free_slots().mutex);
    free_slots().free.push_back(slot);
  }
};
}  // namespace

int claim_slot() {
  static thread_local const Claim claim;
  return thread_slot = claim.slot;
}
}  // namespace detail

namespace {

struct Entry {
  std::unique_ptr<Counter> counter;
  std::unique_ptr<Gauge> gauge;
  std::unique_ptr<Histogram> histogram;
};
struct Group {
  std::string help;
  Kind kind;
  std::map<Labels, Entry> entries;
};
struct Registry {
  std::mutex mutex;
  std::map<std::string, Group, std::less<>> groups;
  std::set<std::string, std::less<>> kernels;
  std::mutex scrape_mutex;
  std::vector<std::function<void()>> updates;
};
Registry& registry() {
  static auto& all = *new Registry;
  return all;
}

bool is_name(std::string_view s) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !s.empty() && letter(s[0]) &&
         std::all_of(s.begin(), s.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

void cap_kernels(Registry& r, Labels& labels) {
  constexpr std::size_t most = 256;
  for (auto& [key, value] : labels) {
    if (key != "kernel" || r.kernels.contains(value)) continue;
    if (r.kernels.size() < most)
      r.kernels.insert(value);
    else
      value = "other";
  }
}

template <class Metric>
Metric& find(std::string_view name, Labels labels, std::string_view help, Kind kind,
             std::unique_ptr<Metric> Entry::*member) {
  bool well_formed = is_name(name);
  for (const auto& [key, value] : labels) well_formed &= is_name(key) && key != "le";
  require(well_formed, "metrics: '" + std::string(name) + "' or one of its labels is not a metric name");
  std::sort(labels.begin(), labels.end());
  Registry& r = registry();
  const std::scoped_lock lock(r.mutex);
  cap_kernels(r, labels);
  Group& group = r.groups.try_emplace(std::string(name), Group{std::string(help), kind, {}}).first->second;
  require(group.kind == kind, "metrics: " + std::string(name) + " is already of another kind");
  if (group.help.empty()) group.help = help;
  auto& metric = group.entries[std::move(labels)].*member;
  if (!metric) metric = std::make_unique<Metric>();
  return *metric;
}

}  // namespace

double Counter::value() const {
  double sum = 0;
  cells_.each([&](const Cell& c) { sum += c.value.load(std::memory_order_relaxed); });
  return sum;
}

void Gauge::add(double by) noexcept {
  double now = value(), next = 0;
  do next = (std::isnan(now) ? 0 : now) + by;
  while (!value_.compare_exchange_weak(now, next, std::memory_order_relaxed));
}

void Histogram::record(double seconds) noexcept {
  constexpr double longest = 1e9;  // bounds a value, to keep the sum finite
  const int slot = detail::slot();
  Cell& cell = cells_.mine(slot);
  seconds = seconds >= 0 ? std::min(seconds, longest) : 0;
  detail::bump(cell.counts[std::size_t(buckets::index(seconds))], std::uint64_t(1), slot);
  detail::bump(cell.sum, seconds, slot);
}

HistogramData Histogram::read() const {
  HistogramData data;
  cells_.each([&](const Cell& c) {
    for (std::size_t i = 0; i < data.counts.size(); ++i)
      data.counts[i] += c.counts[i].load(std::memory_order_relaxed);
    data.sum += c.sum.load(std::memory_order_relaxed);
  });
  return data;
}

Counter& counter(std::string_view name, Labels labels, std::string_view help) {
  return find(name, std::move(labels), help, Kind::counter, &Entry::counter);
}
Gauge& gauge(std::string_view name, Labels labels, std::string_view help) {
  return find(name, std::move(labels), help, Kind::gauge, &Entry::gauge);
}
Histogram& histogram(std::string_view name, Labels labels, std::string_view help) {
  return find(name, std::move(labels), help, Kind::histogram, &Entry::histogram);
}

void on_scrape(std::function<void()> update) {
  const std::scoped_lock lock(registry().mutex);
  registry().updates.push_back(std::move(update));
}

std::vector<Family> collect() {
  Registry& r = registry();
  const std::scoped_lock one_at_a_time(r.scrape_mutex);
  std::vector<std::function<void()>> updates;
  {
    const std::scoped_lock lock(r.mutex);
    updates = r.updates;
  }
  for (const auto& update : updates) update();  // may register further metrics
  const std::scoped_lock lock(r.mutex);
  std::vector<Family> families;
  for (const auto& [name, group] : r.groups) {
    Family family{name, group.help, group.kind, {}};
    for (const auto& [labels, entry] : group.entries) {
      Reading reading{labels, 0, {}};
      if (entry.counter) reading.value = entry.counter->value();
      if (entry.gauge) reading.value = entry.gauge->value();
      if (entry.histogram) reading.histogram = entry.histogram->read();
      if (!std::isnan(reading.value)) family.readings.push_back(std::move(reading));
    }
    if (!family.readings.empty()) families.push_back(std::move(family));
  }
  return families;
}

}  // namespace kolmo::metrics
