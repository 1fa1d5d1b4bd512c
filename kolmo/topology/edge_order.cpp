#include "kolmo/topology/edge_order.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/cpu/vectors.hpp"

namespace kolmo::topology {

EdgeOrder::EdgeOrder(const Distances& distances, double threshold, int threads) : points(distances.count()) {
  std::size_t count = 0;
  const auto each = [&](auto use) {
    for (std::int64_t i = 0; i < points; ++i) {
      const double* const row = distances.to_earlier(i);
      for (std::int64_t j = 0; j < i; ++j)
        if (row[j] <= threshold && row[j] < HUGE_VAL) use(row[j], i, j);
    }
  };
  each([&](double, std::int64_t, std::int64_t) { ++count; });
  edges.reserve(count);
  each([&](double length, std::int64_t i, std::int64_t j) {
    edges.push_back({length, std::uint32_t(i), std::uint32_t(j)});
  });
  std::ranges::sort(edges, [](const Edge& a, const Edge& b) {
    return a.length != b.length ? a.length < b.length : std::tie(a.from, a.to) < std::tie(b.from, b.to);
  });
  ranks.assign(std::size_t(points * points), none);
  for (Rank r = 0; r < edges.size(); ++r) {
    const Edge& e = edges[r];
    ranks[std::size_t(e.from * points + e.to)] = ranks[std::size_t(e.to * points + e.from)] = r;
  }
  apparent.resize(edges.size());
  parallel_ranges(threads, std::int64_t(edges.size()), [&](std::int64_t begin, std::int64_t end) {
    by_instruction_set([&] {
      for (std::int64_t r = begin; r < end; ++r) apparent[std::size_t(r)] = find_apparent(Rank(r));
    });
  });
}

inline std::uint32_t EdgeOrder::find_apparent(Rank edge) const {
  constexpr std::int64_t few = 64;
  const Rank *const a = row(edges[edge].from), *const b = row(edges[edge].to);
  for (std::int64_t begin = 0; begin < points; begin += few) {
    const std::int64_t end = std::min(points, begin + few);
    unsigned any = 0;
    for (std::int64_t v = begin; v < end; ++v) any |= unsigned(std::max(a[v], b[v]) < edge);
    if (!any) continue;
    for (std::int64_t v = begin; v < end; ++v)
      if (std::max(a[v], b[v]) < edge) return std::uint32_t(v);
  }
  return none;
}

}  // namespace kolmo::topology
