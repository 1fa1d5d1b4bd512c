#include "kolmo/monitor/memory/packing.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "kolmo/runtime/memory/size_class.hpp"

namespace kolmo::memory {
namespace {

constexpr std::size_t most_for_greedy = 4096;

std::uint64_t rounded(const Life& life) {
  return round_up(std::max<std::uint64_t>(life.bytes, 1), alignment);
}

/// Calls begin(i) and end(i) in the order of events; for the same event, ends come first.
template <class Begin, class End>
void in_order(const std::vector<Life>& lives, Begin&& begin, End&& end) {
  struct Turn {
    std::size_t at;
    bool begins;
    std::size_t life;
  };
  std::vector<Turn> turns;
  for (std::size_t i = 0; i < lives.size(); ++i) {
    turns.push_back({lives[i].begin, true, i});
    turns.push_back({lives[i].end, false, i});
  }
  std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    return a.at != b.at ? a.at < b.at : a.begins != b.begins ? b.begins : a.life < b.life;
  });
  for (const Turn& t : turns) t.begins ? begin(t.life) : end(t.life);
}

/// One address range that grows at its end; adjacent free ranges are merged.
class Range {
 public:
  std::uint64_t take(std::uint64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, 0});
    if (fit == by_size_.end()) return grow(bytes);
    const auto [size, at] = *fit;
    remove(at, size);
    if (size > bytes) insert(at + bytes, size - bytes);
    return at;
  }
  void give(std::uint64_t at, std::uint64_t bytes) {
    const auto next = free_.lower_bound(at);
    if (next != free_.end() && next->first == at + bytes) {
      const auto [from, size] = *next;
      remove(from, size);
      bytes += size;
    }
    const auto after = free_.lower_bound(at);
    if (after != free_.begin()) {
      const auto [from, size] = *std::prev(after);
      if (from + size == at) {
        remove(from, size);
        at = from, bytes += size;
      }
    }
    insert(at, bytes);
  }
  std::uint64_t end() const { return end_; }

 private:
  std::uint64_t grow(std::uint64_t bytes) {
    std::uint64_t at = end_;
    if (!free_.empty()) {
      const auto [from, size] = *free_.rbegin();
      if (from + size == end_) {
        remove(from, size);
        at = from;
      }
    }
    end_ = at + bytes;
    return at;
  }
  void insert(std::uint64_t at, std::uint64_t bytes) {
    free_.emplace(at, bytes);
    by_size_.emplace(bytes, at);
  }
  void remove(std::uint64_t at, std::uint64_t bytes) {
    free_.erase(at);
    by_size_.erase({bytes, at});
  }
  std::map<std::uint64_t, std::uint64_t> free_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;
  std::uint64_t end_ = 0;
};

std::uint64_t best_fit(const std::vector<Life>& lives) {
  Range range;
  std::vector<std::uint64_t> place(lives.size());
  in_order(
      lives, [&](std::size_t i) { place[i] = range.take(rounded(lives[i])); },
      [&](std::size_t i) { range.give(place[i], rounded(lives[i])); });
  return range.end();
}

std::uint64_t greedy_by_size(const std::vector<Life>& lives) {
  std::vector<std::size_t> order(lives.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lives[a].bytes > lives[b].bytes; });
  std::vector<std::pair<std::uint64_t, std::size_t>> placed;  // by address
  std::uint64_t end = 0;
  for (const std::size_t i : order) {
    std::uint64_t at = 0;
    for (const auto& [other_at, other] : placed) {
      const bool together = lives[i].begin < lives[other].end && lives[other].begin < lives[i].end;
      if (!together) continue;
      if (at + rounded(lives[i]) <= other_at) break;
      at = std::max(at, other_at + rounded(lives[other]));
    }
    placed.insert(std::upper_bound(placed.begin(), placed.end(), std::pair(at, i)), {at, i});
    end = std::max(end, at + rounded(lives[i]));
  }
  return end;
}

}  // namespace

std::uint64_t packed_bytes(const std::vector<Life>& lives) {
  const std::uint64_t fit = best_fit(lives);
  return lives.size() > most_for_greedy ? fit : std::min(fit, greedy_by_size(lives));
}

std::uint64_t peak_bytes(const std::vector<Life>& lives) {
  std::uint64_t now = 0, peak = 0;
  in_order(
      lives, [&](std::size_t i) { peak = std::max(peak, now += rounded(lives[i])); },
      [&](std::size_t i) { now -= rounded(lives[i]); });
  return peak;
}

}  // namespace kolmo::memory
