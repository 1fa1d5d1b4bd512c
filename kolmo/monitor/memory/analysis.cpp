#include "kolmo/monitor/memory/analysis.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "kolmo/monitor/memory/packing.hpp"

namespace kolmo::memory {
namespace {

constexpr std::size_t windows = 24;  // windows of leak detection; the rule needs at least 20
constexpr double old_age = 10;       // in multiples of the median lifetime
constexpr std::size_t sizes_shown = 10;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + long(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// A live block, and when it was allocated.
struct Block {
  TraceEvent event;
  std::size_t begin;
};

struct TagCourse {
  TagUse use;
  std::vector<double> lives;
  std::vector<double> live_at_end_of;  // one for each window
  std::uint64_t oldest = ~0ull;
};

class TraceWalk {
 public:
  TraceWalk(const Trace& trace, std::size_t pool, std::size_t slices)
      : trace_(trace), pool_(pool), slices_(slices), tags_(trace.tags.size()) {
    a_.end = trace.pools[pool].stats;
  }

  PoolAnalysis run() {
    before();
    now_ = before_;
    a_.reserved_peak = now_.reserved, a_.peak_granted = now_.granted;
    note_peak(0);
    a_.course.assign(slices_, Moment{});
    for (std::size_t i = 0; i < trace_.events.size(); ++i)
      if (trace_.events[i].pool == pool_) step(i);
    fill(slices_, windows);
    for (const auto& [address, block] : live_) {
      lives_.push_back({block.event.requested, block.begin, end_});
      auto& tag = tags_[block.event.tag];
      tag.oldest = std::min(tag.oldest, block.event.nanoseconds);
    }
    finish();
    return std::move(a_);
  }

 private:
  /// Computes what was live and reserved before the first event: the state at the end, minus all changes
  /// since.
  void before() {
    std::unordered_set<std::uint64_t> seen;
    Moment change{};  // modulo 2^64
    for (const TraceEvent& e : trace_.events) {
      if (e.pool != pool_) continue;
      if (e.action == Action::reserve) change.reserved += e.granted;
      if (e.action == Action::release) change.reserved -= e.granted;
      if (e.action == Action::allocate) change.requested += e.requested, change.granted += e.granted;
      if (e.action == Action::free) change.requested -= e.requested, change.granted -= e.granted;
      const bool first =
          (e.action == Action::allocate || e.action == Action::free) && seen.insert(e.address).second;
      if (first && e.action == Action::free)
        lives_.push_back({e.requested, 0, std::size_t(&e - trace_.events.data()) + 1});
    }
    const auto less = [this](std::uint64_t end, std::uint64_t by) {
      const bool negative = std::int64_t(end - by) < 0;
      consistent_ &= !negative;
      return negative ? 0 : end - by;
    };
    before_ = {less(a_.end.live_bytes, change.requested), less(a_.end.granted_bytes, change.granted),
               less(a_.end.reserved_bytes, change.reserved)};
    std::uint64_t seen_freed = 0;
    for (const Life& life : lives_) seen_freed += life.bytes;
    if (before_.requested > seen_freed)  // these were live from before the first event to after the last one
      lives_.push_back({before_.requested - seen_freed, 0, end_});
  }

  std::size_t place(const TraceEvent& e, std::size_t parts) const {
    const double share = trace_.seconds > 0 ? double(e.nanoseconds) * 1e-9 / trace_.seconds : 0;
    return std::min(parts - 1, std::size_t(std::min(share, 1.0) * double(parts)));
  }
  /// Copies the present state to the slices and windows that have passed.
  void fill(std::size_t slice, std::size_t window) {
    for (; slice_ < slice; ++slice_) raise();
    for (; window_ < window; ++window_)
      for (auto& tag : tags_) tag.live_at_end_of.push_back(double(tag.use.live_bytes));
  }
  void raise() {
    Moment& m = a_.course[std::min(slice_, slices_ - 1)];
    m = {std::max(m.requested, now_.requested), std::max(m.granted, now_.granted),
         std::max(m.reserved, now_.reserved)};
  }

  void step(std::size_t i) {
    const TraceEvent& e = trace_.events[i];
    fill(place(e, slices_), place(e, windows));
    raise();
    switch (e.action) {
      case Action::allocate:
        allocate(e, i);
        break;
      case Action::free:
        free(e, i);
        break;
      case Action::reserve:
        ++a_.reserves, now_.reserved += e.granted;
        break;
      case Action::release:
        ++a_.releases, now_.reserved -= std::min(now_.reserved, e.granted);
        break;
      case Action::retry:
        ++a_.retries;
        break;
      case Action::fail:
        ++a_.failures;
        break;
    }
    a_.reserved_peak = std::max(a_.reserved_peak, now_.reserved);
    a_.peak_granted = std::max(a_.peak_granted, now_.granted);
    if (now_.requested > a_.peak_requested) note_peak(double(e.nanoseconds) * 1e-9);
    raise();
  }
  void note_peak(double seconds) {
    a_.peak_requested = now_.requested, a_.peak_seconds = seconds;
    a_.peak_internal_fragmentation.reset();
    if (consistent_ && now_.requested && now_.requested <= now_.granted)
      a_.peak_internal_fragmentation = 1 - double(now_.requested) / double(now_.granted);
  }

  void allocate(const TraceEvent& e, std::size_t i) {
    ++a_.allocations, ++a_.from[int(e.source)];
    now_.requested += e.requested, now_.granted += e.granted;
    live_.insert_or_assign(e.address, Block{e, i + 1});
    SizeUse& size = sizes_[{e.requested, e.granted}];
    size.requested = e.requested, size.granted = e.granted, ++size.count;
    size.peak_live = std::max(size.peak_live, ++live_of_size_[{e.requested, e.granted}]);
    TagUse& tag = tags_[e.tag].use;
    ++tag.count, tag.bytes += e.requested, tag.live_bytes += e.requested;
    tag.peak_bytes = std::max(tag.peak_bytes, tag.live_bytes);
  }

  void free(const TraceEvent& e, std::size_t i) {
    ++a_.frees;
    now_.requested -= std::min(now_.requested, e.requested),
        now_.granted -= std::min(now_.granted, e.granted);
    const auto at = live_.find(e.address);
    if (at == live_.end()) return;  // the block was allocated before the trace began
    const Block& block = at->second;
    lives_.push_back({e.requested, block.begin, i + 1});
    --live_of_size_[{block.event.requested, block.event.granted}];
    TagCourse& tag = tags_[block.event.tag];
    tag.use.live_bytes -= block.event.requested;
    tag.lives.push_back(double(e.nanoseconds - std::min(e.nanoseconds, block.event.nanoseconds)) * 1e-9);
    live_.erase(at);
  }

  void finish() {
    a_.peak_may_be_lost = trace_.lost && a_.end.peak_bytes > a_.peak_requested;
    if (a_.peak_may_be_lost) a_.peak_internal_fragmentation.reset();
    a_.lower_bound = peak_bytes(lives_);
    a_.reserved_peak = std::max(a_.reserved_peak, a_.lower_bound);
    a_.packed = std::min(packed_bytes(lives_), a_.reserved_peak);  // the pool's own layout is a packing, too
    if (a_.reserved_peak) a_.reuse_potential = 1 - double(a_.packed) / double(a_.reserved_peak);
    for (const auto& [key, size] : sizes_) a_.sizes.push_back(size);
    std::stable_sort(a_.sizes.begin(), a_.sizes.end(), [](const SizeUse& x, const SizeUse& y) {
      return double(x.count) * double(x.requested) > double(y.count) * double(y.requested);
    });
    for (std::size_t t = 0; t < tags_.size(); ++t) {
      TagCourse& tag = tags_[t];
      if (!tag.use.count) continue;
      tag.use.tag = trace_.tags[t];
      tag.use.median_life = median(tag.lives);
      if (tag.oldest != ~0ull) tag.use.oldest = trace_.seconds - double(tag.oldest) * 1e-9;
      if (trace_.seconds > 0)
        tag.use.slope = theil_sen(tag.live_at_end_of) * double(windows) / trace_.seconds;
      tag.use.leak_suspect =
          tag.use.slope > 0 && tag.use.live_bytes && tag.use.oldest > old_age * tag.use.median_life;
      a_.tags.push_back(tag.use);
    }
    std::stable_sort(a_.tags.begin(), a_.tags.end(),
                     [](const TagUse& x, const TagUse& y) { return x.peak_bytes > y.peak_bytes; });
    a_.recommendations = recommend(trace_, pool_, a_);
  }

  const Trace& trace_;
  std::size_t pool_, slices_;
  std::size_t end_ = trace_.events.size() + 1;  // event i happens at time i + 1, the trace begins at 0
  PoolAnalysis a_;
  Moment before_{}, now_{};
  bool consistent_ = true;  // the events and the state at the end fit together
  std::size_t slice_ = 0, window_ = 0;
  std::unordered_map<std::uint64_t, Block> live_;
  std::vector<Life> lives_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, SizeUse> sizes_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> live_of_size_;
  std::vector<TagCourse> tags_;
};

}  // namespace

double theil_sen(const std::vector<double>& values) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = i + 1; j < values.size(); ++j)
      slopes.push_back((values[j] - values[i]) / double(j - i));
  return median(std::move(slopes));
}

PoolAnalysis analyse(const Trace& trace, std::size_t pool, std::size_t slices) {
  return TraceWalk(trace, pool, slices).run();
}

nlohmann::ordered_json to_json(const PoolAnalysis& a) {
  using Json = nlohmann::ordered_json;
  Json from, course = Json::array(), sizes = Json::array(), tags = Json::array(), advice = Json::array();
  for (int i = 0; i < memory_sources; ++i) from[memory_source_names[i]] = a.from[i];
  for (const Moment& m : a.course) course.push_back({m.requested, m.granted, m.reserved});
  for (const SizeUse& s : a.sizes) {
    if (sizes.size() == sizes_shown) break;
    sizes.push_back({{"requested", s.requested},
                     {"granted", s.granted},
                     {"count", s.count},
                     {"peak_live", s.peak_live},
                     {"wasted_bytes", s.wasted()}});
  }
  for (const TagUse& t : a.tags)
    tags.push_back({{"tag", t.tag},
                    {"count", t.count},
                    {"bytes", t.bytes},
                    {"live_bytes", t.live_bytes},
                    {"peak_bytes", t.peak_bytes},
                    {"median_life_seconds", t.median_life},
                    {"oldest_seconds", t.oldest},
                    {"bytes_per_second", t.slope},
                    {"leak_suspect", t.leak_suspect}});
  for (const Recommendation& r : a.recommendations)
    advice.push_back({{"rule", r.rule}, {"evidence", r.evidence}, {"action", r.action}, {"bytes", r.bytes}});
  return {{"end", to_json(a.end)},
          {"allocations", a.allocations},
          {"frees", a.frees},
          {"reserves", a.reserves},
          {"releases", a.releases},
          {"retries", a.retries},
          {"failures", a.failures},
          {"from", std::move(from)},
          {"peak_requested_bytes", a.peak_requested},
          {"peak_granted_bytes", a.peak_granted},
          {"peak_seconds", a.peak_seconds},
          {"peak_internal_fragmentation",
           a.peak_internal_fragmentation ? Json(*a.peak_internal_fragmentation) : Json()},
          {"peak_may_be_lost", a.peak_may_be_lost},
          {"lower_bound_bytes", a.lower_bound},
          {"packed_bytes", a.packed},
          {"reserved_peak_bytes", a.reserved_peak},
          {"reuse_potential", a.reuse_potential},
          {"course", std::move(course)},
          {"sizes", std::move(sizes)},
          {"tags", std::move(tags)},
          {"recommendations", std::move(advice)}};
}

}  // namespace kolmo::memory
