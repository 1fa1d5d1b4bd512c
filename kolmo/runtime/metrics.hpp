#pragma once
#include <array>
#include <atomic>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kolmo/runtime/histogram.hpp"

/// The process's metrics, which `/metrics`, `kolmo top` and the records show. Recording takes no lock. Call
/// sites look a metric up once and keep the reference, which stays valid until the process ends.
///   static metrics::Counter& hits = metrics::counter("kolmo_tuner_lookups_total", {{"result", "hit"}});
///   hits.add();
/// Names: prefix `kolmo_`, base units, `_total` on counters, ratios in 0 to 1 (docs/monitoring/README.md).
namespace kolmo::metrics {

using Labels = std::vector<std::pair<std::string, std::string>>;

namespace detail {

/// Threads get their own slots until these run out; slot 0 is shared by the remaining threads.
inline constexpr int slots = 128;
extern constinit thread_local int thread_slot;
int claim_slot();
inline int slot() { return thread_slot >= 0 ? thread_slot : claim_slot(); }

/// One cell for each thread, which alone writes to it. A cell outlives its thread and is reused by a later
/// one.
template <class Cell>
class PerThread {
 public:
  PerThread() = default;
  PerThread(const PerThread&) = delete;
  PerThread& operator=(const PerThread&) = delete;
  ~PerThread() {
    each([](const Cell& c) { delete &c; });
  }

  Cell& mine(int slot) {
    auto& place = cells_[std::size_t(slot)];
    if (Cell* c = place.load(std::memory_order_acquire)) return *c;
    auto* fresh = new Cell;
    Cell* other = nullptr;
    if (place.compare_exchange_strong(other, fresh, std::memory_order_acq_rel)) return *fresh;
    delete fresh;
    return *other;
  }
  template <class F>
  void each(F f) const {
    for (const auto& place : cells_)
      if (const Cell* c = place.load(std::memory_order_acquire)) f(*c);
  }

 private:
  std::array<std::atomic<Cell*>, slots> cells_{};
};

template <class T>
void bump(std::atomic<T>& value, T by, int slot) noexcept {
  if (slot)
    value.store(value.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  else
    value.fetch_add(by, std::memory_order_relaxed);
}

}  // namespace detail

/// A value that only grows.
class Counter {
 public:
  /// One thread's cell, for call sites at which the look-up of the cell would be too slow. Only that thread
  /// may use it, and not in destructors of its thread_local objects.
  class Mine {
   public:
    Mine() = default;
    void add(double by = 1) noexcept { detail::bump(*value_, by, slot_); }

   private:
    friend class Counter;
    Mine(std::atomic<double>& value, int slot) : value_(&value), slot_(slot) {}
    std::atomic<double>* value_ = nullptr;
    int slot_ = 0;
  };
  Mine mine() noexcept {
    const int slot = detail::slot();
    return {cells_.mine(slot).value, slot};
  }
  void add(double by = 1) noexcept { mine().add(by); }
  double value() const;

 private:
  struct alignas(64) Cell {
    std::atomic<double> value{0};
  };
  detail::PerThread<Cell> cells_;
};

/// A current value. It is not exported before it is set, nor while it is NaN.
class Gauge {
 public:
  void set(double value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void add(double by) noexcept;  ///< starts from 0 if it was never set
  double value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{std::numeric_limits<double>::quiet_NaN()};
};

/// Durations in seconds, in log-linear buckets at most 6.25 % wide.
class Histogram {
 public:
  void record(double seconds) noexcept;
  HistogramData read() const;

 private:
  struct alignas(64) Cell {
    std::array<std::atomic<std::uint64_t>, buckets::count> counts{};
    std::atomic<double> sum{0};
  };
  detail::PerThread<Cell> cells_;
};

/// Returns the metric with this name and these labels, which the first call creates. The label `kernel` has
/// at most 256 different values; further ones become "other". Throws InvalidArgument for a malformed name and
/// for the name of a metric of another kind.
Counter& counter(std::string_view name, Labels labels = {}, std::string_view help = {});
Gauge& gauge(std::string_view name, Labels labels = {}, std::string_view help = {});
Histogram& histogram(std::string_view name, Labels labels = {}, std::string_view help = {});

/// Calls `update` before every collection, for values that are computed when read. Calls do not overlap.
void on_scrape(std::function<void()> update);

enum class Kind : std::uint8_t { counter, gauge, histogram };
struct Reading {
  Labels labels;
  double value = 0;         ///< of a counter or gauge
  HistogramData histogram;  ///< of a histogram
};
struct Family {
  std::string name, help;
  Kind kind;
  std::vector<Reading> readings;
};
/// All registered metrics, by name and labels, after the on_scrape updates.
std::vector<Family> collect();

}  // namespace kolmo::metrics
