#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kolmo/monitor/memory/analysis.hpp"

namespace kolmo::memory {
namespace {

constexpr std::uint64_t worth = 1 << 20;  // smaller savings are not reported

struct Evidence {
  const Trace& trace;
  const PoolAnalysis& a;
  std::vector<const TraceEvent*> events;  // events of the pool
};
using Advice = std::vector<Recommendation>;

std::string text(std::uint64_t bytes) { return bytes_text(double(bytes)); }

void raise_keep(const Evidence& e, Advice& advice) {
  std::uint64_t given_back = 0, again = 0, times = 0;
  for (const TraceEvent* event : e.events) {
    if (event->action == Action::release) given_back += event->granted;
    if (event->action != Action::reserve) continue;
    const std::uint64_t part = std::min(given_back, event->granted);
    given_back -= part, again += part, times += part > 0;
  }
  if (again >= worth && times >= 4)
    advice.push_back({"raise-keep",
                      fmt::format("{} were given back and taken again, {} times", text(again), times),
                      fmt::format("let the pool keep more: Pool::set_keep({})", e.a.reserved_peak), again});
}

void trim_now(const Evidence& e, Advice& advice) {
  std::uint64_t unused = 0;
  for (const TracePool& p : e.trace.pools)
    if (p.stats.name == e.a.end.name)
      for (const TraceChunk& c : p.chunks)
        if (std::none_of(c.blocks.begin(), c.blocks.end(), [](const TraceBlock& b) { return b.used; }))
          unused += c.bytes;
  if (unused >= 64 * worth && 4 * unused >= e.a.end.reserved_bytes)
    advice.push_back({"trim",
                      fmt::format("{} of {} reserved are in chunks without a live block", text(unused),
                                  text(e.a.end.reserved_bytes)),
                      "give them back: pool_trim(device), or a lower Pool::set_keep", unused});
}

void prime(const Evidence& e, Advice& advice) {
  if (e.a.reserves < 8 || e.a.releases || e.a.reserved_peak < 8 * worth) return;
  advice.push_back(
      {"prime", fmt::format("the pool grew {} times to {}", e.a.reserves, text(e.a.reserved_peak)),
       fmt::format("take it at once at the start: Pool::prime({})", e.a.reserved_peak), e.a.reserved_peak});
}

void add_class(const Evidence& e, Advice& advice) {
  for (const SizeUse& s : e.a.sizes)
    if (s.wasted() >= worth && 8 * (s.granted - s.requested) >= s.granted)
      advice.push_back(
          {"add-class",
           fmt::format("{} live blocks of {} B are given {} B each", s.peak_live, s.requested, s.granted),
           fmt::format("ask for {} B, or several blocks as one buffer", s.granted), s.wasted()});
}

void arena(const Evidence& e, Advice& advice) {
  for (const TagUse& t : e.a.tags)
    if (t.count >= 1000 && 2 * t.count >= e.a.allocations && t.peak_bytes <= 64 * worth && !t.tag.empty() &&
        t.median_life < 0.01 * e.trace.seconds)
      advice.push_back({"arena",
                        fmt::format("'{}' makes {} of {} allocations, and at most {} live at once", t.tag,
                                    t.count, e.a.allocations, text(t.peak_bytes)),
                        fmt::format("give it one buffer of {} to cut up", text(t.peak_bytes)), t.peak_bytes});
}

void merge_streams(const Evidence& e, Advice& advice) {
  std::map<std::uint16_t, std::pair<std::uint64_t, std::uint64_t>> live_and_peak;
  for (const TraceEvent* event : e.events) {
    auto& [live, peak] = live_and_peak[event->stream];
    if (event->action == Action::allocate) peak = std::max(peak, live += event->granted);
    if (event->action == Action::free) live -= std::min(live, event->granted);
  }
  std::uint64_t sum = 0;
  for (const auto& [stream, course] : live_and_peak) sum += course.second;
  if (live_and_peak.size() < 2 || sum <= e.a.peak_granted) return;
  const std::uint64_t apart = sum - e.a.peak_granted;
  if (apart >= 16 * worth && 4 * apart >= e.a.reserved_peak && e.a.reserved_peak > e.a.peak_granted + worth)
    advice.push_back({"merge-streams",
                      fmt::format("the peaks of {} streams come at different times: {} together, {} at once",
                                  live_and_peak.size(), text(sum), text(e.a.peak_granted)),
                      "use fewer streams, so that they share what they free",
                      std::min(apart, e.a.reserved_peak - e.a.peak_granted)});
}

void cap_pinned(const Evidence& e, Advice& advice) {
  if (!e.a.end.name.starts_with("pinned")) return;
  if (e.a.reserved_peak >= 16 * worth && e.a.reserved_peak >= 2 * e.a.peak_granted)
    advice.push_back({"cap-pinned",
                      fmt::format("{} are page-locked, and at most {} were in use", text(e.a.reserved_peak),
                                  text(e.a.peak_granted)),
                      fmt::format("lower the cap: PinnedPool::set_cap({})", e.a.peak_granted),
                      e.a.reserved_peak - e.a.peak_granted});
}

void hoist(const Evidence& e, Advice& advice) {
  struct Use {
    std::uint64_t count = 0, live = 0, most = 0, granted = 0;
  };
  std::map<std::pair<std::uint16_t, std::uint64_t>, Use> uses;
  std::map<std::uint64_t, Use*> at;
  for (const TraceEvent* event : e.events) {
    if (event->action == Action::allocate) {
      Use& use = uses[{event->tag, event->requested}];
      ++use.count, use.granted = event->granted, use.most = std::max(use.most, ++use.live);
      at[event->address] = &use;
    } else if (event->action == Action::free) {
      const auto found = at.find(event->address);
      if (found == at.end()) continue;
      --found->second->live;
      at.erase(found);
    }
  }
  for (const auto& [key, use] : uses)
    if (use.count >= 100 && use.most == 1 && use.granted * use.count >= worth) {
      const std::string& tag = e.trace.tags[key.first];
      advice.push_back({"hoist",
                        fmt::format("{}{} B are allocated and freed {} times, never two at once",
                                    tag.empty() ? "" : "'" + tag + "': ", key.second, use.count),
                        "allocate once, outside of the loop", use.granted * (use.count - 1)});
    }
}

}  // namespace

std::vector<Recommendation> recommend(const Trace& trace, std::size_t pool, const PoolAnalysis& analysis) {
  Evidence e{trace, analysis, {}};
  for (const TraceEvent& event : trace.events)
    if (event.pool == pool) e.events.push_back(&event);
  Advice advice;
  for (const auto rule : {raise_keep, trim_now, prime, add_class, arena, merge_streams, cap_pinned, hoist})
    rule(e, advice);
  std::stable_sort(advice.begin(), advice.end(),
                   [](const Recommendation& x, const Recommendation& y) { return x.bytes > y.bytes; });
  return advice;
}

}  // namespace kolmo::memory
