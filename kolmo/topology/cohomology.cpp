#include "kolmo/topology/cohomology.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "kolmo/runtime/cpu/interrupt.hpp"
#include "kolmo/runtime/cpu/vectors.hpp"

namespace kolmo::topology {
namespace {

/// Leaves the values that are there an odd number of times, as sums over the field of two elements have them. The values
/// are sorted.
template <class T>
void cancel_pairs(std::vector<T>& values) {
  std::size_t left = 0;
  for (const T v : values)
    if (left && values[left - 1] == v)
      --left;
    else
      values[left++] = v;
  values.resize(left);
}

}  // namespace

void Cohomology::find_cofacets(Rank edge) {
  const std::uint32_t from = order_.edges[edge].from, to = order_.edges[edge].to;
  const Rank *const a = order_.row(from), *const b = order_.row(to);
  found_.resize(std::size_t(order_.points) + 1);
  Triangle* const out = found_.data();
  std::size_t count = 0;
  const Rank first = EdgeOrder::longest(from_), final = EdgeOrder::longest(end_ - 1);
  constexpr std::int64_t few = 32;
  by_instruction_set([&] {
    for (std::int64_t begin = 0; begin < order_.points; begin += few) {
      const std::int64_t end = std::min(order_.points, begin + few);
      unsigned any = 0;
      for (std::int64_t v = begin; v < end; ++v) {
        const Rank rank = std::max(edge, std::max(a[v], b[v]));
        any |= unsigned(rank >= first) & unsigned(rank <= final);
      }
      if (!any) continue;
      for (std::int64_t v = begin; v < end; ++v) {
        const Rank most = std::max(a[v], b[v]), rank = std::max(edge, most);
        const std::uint32_t opposite = edge > most ? std::uint32_t(v) : a[v] > b[v] ? to : from;
        const Triangle t = EdgeOrder::triangle(rank, opposite);
        out[count] = t;
        count += std::size_t(t >= from_ && t < end_);
      }
    }
  });
  found_.resize(count);
}

void Cohomology::add(Rank edge) {
  find_cofacets(edge);
  for (const Triangle t : found_) {
    if (t >= end_) continue;
    heap_.push_back(t);
    std::ranges::push_heap(heap_, std::greater());
    if (heap_.size() == capacity_) shorten();
  }
}

void Cohomology::shorten() {
  const auto middle = heap_.begin() + std::ptrdiff_t(capacity_ / 2);
  std::ranges::nth_element(heap_, middle);
  const Triangle end = *middle;
  if (*std::min_element(heap_.begin(), middle) < end) {
    end_ = end;
    std::erase_if(heap_, [end](Triangle t) { return t >= end; });
  } else {  // more than half of them are one triangle
    std::ranges::sort(heap_);
    cancel_pairs(heap_);
  }
  std::ranges::make_heap(heap_, std::greater());
}

Cohomology::Triangle Cohomology::first_in_heap() {
  while (!heap_.empty()) {
    const Triangle first = heap_.front();
    std::size_t times = 0;
    while (!heap_.empty() && heap_.front() == first) {
      std::ranges::pop_heap(heap_, std::greater());
      heap_.pop_back();
      ++times;
    }
    if (times % 2) return first;
  }
  return none;
}

Cohomology::Triangle Cohomology::first() {
  for (;;) {
    if (const Triangle t = first_in_heap(); t != none) return t;
    if (end_ == last) return none;
    from_ = end_, end_ = last;
    std::ranges::sort(sum_);
    cancel_pairs(sum_);
    for (const Rank e : sum_) add(e);
  }
}

Cohomology::Triangle Cohomology::reduce(Rank edge) {
  from_ = 0, end_ = last;
  find_cofacets(edge);
  if (found_.empty()) return none;
  sum_.assign(1, edge);
  Triangle t = *std::ranges::min_element(found_);
  if (order_.is_apparent(t) || paired_.contains(t)) {
    heap_.clear();
    add(edge);
    for (t = first(); t != none; t = first()) {
      check_interrupt();
      const auto found = paired_.find(t);
      const bool apparent = order_.is_apparent(t);
      if (!apparent && found == paired_.end()) break;
      from_ = t + 1;
      const Rank longest = EdgeOrder::longest(t);
      for (const Rank e : apparent ? std::span(&longest, 1) : std::span<const Rank>(kept_[found->second])) {
        sum_.push_back(e);
        add(e);
      }
    }
  }
  if (t == none) return none;
  std::ranges::sort(sum_);
  cancel_pairs(sum_);
  paired_.emplace(t, kept_.size());
  kept_.emplace_back(sum_.begin(), sum_.end());
  return t;
}

Diagram Cohomology::loops(const std::vector<bool>& joins, const Listener& listener) {
  std::vector<Rank> columns;
  for (Rank e = Rank(order_.edges.size()); e-- > 0;)
    if (!joins[e] && order_.apparent[e] == EdgeOrder::none) columns.push_back(e);
  Diagram found;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    check_interrupt();
    if (listener) listener(double(i), double(columns.size()));
    const Triangle t = reduce(columns[i]);
    const double birth = order_.edges[columns[i]].length,
                 death = t == none ? HUGE_VAL : order_.edges[EdgeOrder::longest(t)].length;
    if (death > birth) found.push_back({birth, death});
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace kolmo::topology
