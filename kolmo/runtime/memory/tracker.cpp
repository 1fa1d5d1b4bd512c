#include "kolmo/runtime/memory/tracker.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

#include "kolmo/base/utc.hpp"
#include "kolmo/runtime/memory/pool_metrics.hpp"

namespace kolmo::memory {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint64_t busy = ~0ull;
constexpr std::size_t words = 5;

/// A place in the ring. `turn` is 1 + the number of the event that it holds, 0 for none, or `busy` during a
/// write.
struct Place {
  std::atomic<std::uint64_t> turn{0};
  std::atomic<std::uint64_t> word[words]{};
};
static_assert(sizeof(Place) == 48);

struct Ring {
  explicit Ring(std::size_t events) : mask(std::bit_ceil(events) - 1), places(new Place[mask + 1]) {}
  std::size_t mask;
  std::unique_ptr<Place[]> places;
  std::atomic<std::uint64_t> next{0};
  Clock::time_point began = Clock::now();
};

struct Names {
  std::mutex mutex;
  std::vector<std::string> list;
  std::map<std::string, std::uint16_t, std::less<>> number;

  std::uint16_t of(std::string_view name, std::size_t most) {
    const std::scoped_lock lock(mutex);
    if (const auto at = number.find(name); at != number.end()) return at->second;
    if (list.size() >= most) return std::uint16_t(most - 1);
    list.emplace_back(name);
    return number[list.back()] = std::uint16_t(list.size() - 1);
  }
};
Names& tags() {
  static auto& names = *new Names{{}, {""}, {{"", 0}}};
  return names;
}
Names& pools() {
  static auto& names = *new Names;
  return names;
}

std::atomic<Ring*> ring{nullptr};
std::mutex session;
std::string began;

std::uint16_t thread_number() {
  static std::atomic<std::uint16_t> threads{0};
  thread_local const std::uint16_t number = threads++;
  return number;
}

TraceEvent unpack(const std::uint64_t* w) {
  TraceEvent e{w[0], w[1], w[2], w[3]};
  e.tag = std::uint16_t(w[4]), e.stream = std::uint16_t(w[4] >> 16), e.thread = std::uint16_t(w[4] >> 32);
  e.pool = std::uint8_t(w[4] >> 48);
  e.action = Action(w[4] >> 56 & 15), e.source = MemorySource(w[4] >> 60);
  return e;
}

}  // namespace

std::uint16_t Tag::intern(std::string_view name) { return tags().of(name, 1 << 16); }
std::uint8_t traced_pool(const std::string& name) { return std::uint8_t(pools().of(name, 1 << 8)); }

void record(TraceEvent e) {
  Ring* const r = ring.load(std::memory_order_acquire);
  if (!r) return;
  const auto time = std::uint64_t(std::chrono::nanoseconds(Clock::now() - r->began).count());
  const std::uint64_t number = r->next.fetch_add(1, std::memory_order_relaxed);
  Place& place = r->places[number & r->mask];
  std::uint64_t turn = place.turn.load(std::memory_order_relaxed);
  if (turn == busy || turn > number ||
      !place.turn.compare_exchange_strong(turn, busy, std::memory_order_acquire))
    return;  // a newer event already took the place: this event counts as lost
  const std::uint64_t last = std::uint64_t(Tag::now()) | std::uint64_t(e.stream) << 16 |
                             std::uint64_t(thread_number()) << 32 | std::uint64_t(e.pool) << 48 |
                             std::uint64_t(e.action) << 56 | std::uint64_t(e.source) << 60;
  const std::uint64_t values[words] = {time, e.address, e.requested, e.granted, last};
  for (std::size_t i = 0; i < words; ++i) place.word[i].store(values[i], std::memory_order_relaxed);
  place.turn.store(number + 1, std::memory_order_release);
}

void start_tracking(std::size_t events) {
  const std::scoped_lock lock(session);
  began = utc_now();
  // A thread may still be writing into the ring of an earlier session, so rings are never freed.
  static auto& rings = *new std::vector<std::unique_ptr<Ring>>;
  rings.push_back(std::make_unique<Ring>(std::max<std::size_t>(events, 1)));
  ring.store(rings.back().get(), std::memory_order_release);
  tracking = true;
}

Trace stop_tracking() {
  const std::scoped_lock lock(session);
  tracking = false;
  Ring* const r = ring.load();
  Trace trace;
  if (!r) return trace;
  trace.began = began;
  trace.seconds = std::chrono::duration<double>(Clock::now() - r->began).count();
  const std::uint64_t end = r->next.load(), begin = end > r->mask + 1 ? end - r->mask - 1 : 0;
  for (std::uint64_t n = begin; n < end; ++n) {
    const Place& place = r->places[n & r->mask];
    std::uint64_t values[words];
    const std::uint64_t turn = place.turn.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < words; ++i) values[i] = place.word[i].load(std::memory_order_acquire);
    if (turn == n + 1 && place.turn.load(std::memory_order_relaxed) == turn)
      trace.events.push_back(unpack(values));
  }
  trace.lost = end - trace.events.size();
  {
    const std::scoped_lock names(tags().mutex);
    trace.tags = tags().list;
  }
  trace.pools = traced_pools();
  const std::scoped_lock names(pools().mutex);
  trace.pools.resize(pools().list.size());
  for (std::size_t i = 0; i < trace.pools.size(); ++i) trace.pools[i].stats.name = pools().list[i];
  return trace;
}

}  // namespace kolmo::memory
