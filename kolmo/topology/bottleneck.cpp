#include <bit>
#include <cstdint>

#include "kolmo/runtime/cpu/interrupt.hpp"
#include "kolmo/topology/matching.hpp"

namespace kolmo::topology {
namespace {

/// Whether intervals of one diagram that are too long for the diagonal have partners of their own in the other one, each
/// at a cost of at most `most`. By the algorithm of Hopcroft and Karp.
class Partners {
 public:
  Partners(const Diagram& from, const Diagram& to, double most) : to_(to), most_(most), of_(to.size(), none) {
    for (const Interval& p : from)
      if (cost_of_diagonal(p) > most) from_.push_back(p);
    partner_.assign(from_.size(), none);
  }

  bool all() {
    for (std::size_t left = from_.size(); left;) {
      check_interrupt();
      if (!find_levels()) return false;
      std::size_t found = 0;
      for (std::size_t i = 0; i < from_.size(); ++i) found += partner_[i] == none && extend(i);
      left -= found;
    }
    return true;
  }

 private:
  static constexpr std::size_t none = ~std::size_t(0);

  /// Calls use(j) for the intervals j that i may be matched with, until that returns true.
  template <class Use>
  bool any_near(std::size_t i, const Use& use) const {
    const Interval& p = from_[i];
    // A difference is rounded to the nearest number, so a birth a little further away may still be near enough.
    const double first = std::nextafter(p.birth - most_, -HUGE_VAL),
                 last = std::nextafter(p.birth + most_, HUGE_VAL);
    auto q = std::ranges::lower_bound(to_, first, {}, &Interval::birth);
    for (; q != to_.end() && q->birth <= last; ++q)
      if (cost(p, *q) <= most_ && use(std::size_t(q - to_.begin()))) return true;
    return false;
  }
  /// Numbers the intervals by their distance from one without a partner. Returns whether a path leads to a free one.
  bool find_levels() {
    level_.assign(from_.size(), none);
    std::vector<std::size_t> queue;
    for (std::size_t i = 0; i < from_.size(); ++i)
      if (partner_[i] == none) level_[i] = 0, queue.push_back(i);
    bool free = false;
    for (std::size_t k = 0; k < queue.size(); ++k) {
      const std::size_t i = queue[k];
      any_near(i, [&](std::size_t j) {
        if (of_[j] == none)
          free = true;
        else if (level_[of_[j]] == none)
          level_[of_[j]] = level_[i] + 1, queue.push_back(of_[j]);
        return false;
      });
    }
    return free;
  }
  /// Gives i a partner along a path of rising levels; intervals from which there is none are not looked at again.
  bool extend(std::size_t first) {
    std::vector<Step> path{{first, none}};
    while (!path.empty()) {
      const std::size_t i = path.back().from;
      std::size_t next = none;
      const bool found = any_near(i, [&](std::size_t j) {
        if (of_[j] == none || level_[of_[j]] == level_[i] + 1) {
          path.back().to = j;
          next = of_[j];
          return true;
        }
        return false;
      });
      if (!found) {
        level_[i] = none - 1;
        path.pop_back();
      } else if (next == none) {
        for (const auto& [from, to] : path) partner_[from] = to, of_[to] = from;
        for (const auto& step : path) level_[step.from] = none - 1;
        return true;
      } else {
        path.push_back({next, none});
      }
    }
    return false;
  }

  struct Step {
    std::size_t from, to;
  };
  const Diagram& to_;
  double most_;
  Diagram from_;
  std::vector<std::size_t> of_, partner_, level_;
};

}  // namespace

double bottleneck_distance(const Diagram& a, const Diagram& b) {
  const FinitePart part = finite_part(a, b, "bottleneck_distance");
  if (part.infinite) return HUGE_VAL;
  double least = 0, enough = 0;
  for (const double c : part.essential) least = std::max(least, c);
  for (const Diagram* d : {&part.a, &part.b})
    for (const Interval& p : *d) enough = std::max(enough, cost_of_diagonal(p));
  if (enough <= least) return least;
  // A matching of both sides exists if each side by itself can be matched (Mendelsohn, Dulmage 1958). Numbers of 0 or
  // more are in the order of their bits, so the bisection ends at the cost itself.
  const auto fits = [&](double most) {
    return Partners(part.a, part.b, most).all() && Partners(part.b, part.a, most).all();
  };
  if (fits(least)) return least;
  auto low = std::bit_cast<std::uint64_t>(least), high = std::bit_cast<std::uint64_t>(enough);
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (fits(std::bit_cast<double>(middle)) ? high : low) = middle;
  }
  return std::bit_cast<double>(high);
}

}  // namespace kolmo::topology
