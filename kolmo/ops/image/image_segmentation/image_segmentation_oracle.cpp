#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/image/image_segmentation/image_segmentation.hpp"

namespace kolmo::check {
namespace {
using A = ImageSegmentationArgs;
using Labels = std::vector<std::int64_t>;

/// Calls f(j) for every neighbour j of pixel i.
template <class F>
void each_neighbour(const A& a, std::int64_t i, const F& f) {
  const std::int64_t h = a.x.dim(-2), w = a.x.dim(-1), row = i / w % h, column = i % w;
  for (std::int64_t dy = -1; dy <= 1; ++dy)
    for (std::int64_t dx = -1; dx <= 1; ++dx) {
      const bool near = a.connectivity == Connectivity::eight ? dx || dy : dx * dx + dy * dy == 1;
      if (near && row + dy >= 0 && row + dy < h && column + dx >= 0 && column + dx < w) f(i + dy * w + dx);
    }
}

/// Fills regions one after another. The number of a region is that of its first pixel.
Labels filled(const A& a) {
  const auto n = std::size_t(a.x.size());
  Labels level(n, 0), region(n, -1);
  for (std::size_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < a.thresholds.size(); ++j)
      level[i] += get(a.x, std::int64_t(i)) >= get(a.thresholds, j);
  for (std::size_t i = 0; i < n; ++i) {
    if (region[i] >= 0 || (a.background && level[i] == 0)) continue;
    Labels open = {std::int64_t(i)};
    region[i] = std::int64_t(i);
    while (!open.empty()) {
      const std::int64_t at = open.back();
      open.pop_back();
      each_neighbour(a, at, [&](std::int64_t j) {
        if (region[std::size_t(j)] >= 0 || level[std::size_t(j)] != level[i]) return;
        region[std::size_t(j)] = std::int64_t(i);
        open.push_back(j);
      });
    }
  }
  return region;
}

/// Does a round of merging; returns false if nothing changed.
bool merged(const A& a, Labels& region) {
  std::map<std::int64_t, std::int64_t> area, joins;
  std::map<std::int64_t, std::set<std::int64_t>> beside;
  for (const auto r : region)
    if (r >= 0) ++area[r];
  for (std::size_t i = 0; i < region.size(); ++i)
    if (region[i] >= 0)
      each_neighbour(a, std::int64_t(i), [&](std::int64_t j) {
        if (const auto r = region[std::size_t(j)]; r >= 0 && r != region[i]) beside[region[i]].insert(r);
      });
  std::map<std::int64_t, std::set<std::int64_t>> tied;
  for (const auto& [r, others] : beside) {
    if (area[r] >= a.min_area) continue;
    const auto best = *std::min_element(others.begin(), others.end(), [&](auto p, auto q) {
      return area[p] != area[q] ? area[p] > area[q] : p < q;
    });
    tied[r].insert(best), tied[best].insert(r);
  }
  for (const auto& [r, unused] : tied) {  // in ascending order, so r is the first of its chain
    if (joins.contains(r)) continue;
    Labels open = {r};
    joins[r] = r;
    while (!open.empty()) {
      const auto at = open.back();
      open.pop_back();
      for (const auto other : tied[at])
        if (joins.emplace(other, r).second) open.push_back(other);
    }
  }
  for (auto& r : region)
    if (joins.contains(r)) r = joins[r];
  return !joins.empty();
}

void expected(const A& a) {
  Labels region = filled(a);
  while (merged(a, region)) {}
  std::map<std::int64_t, Labels> pixels;
  for (std::size_t i = 0; i < region.size(); ++i)
    if (region[i] >= 0) pixels[region[i]].push_back(std::int64_t(i));
  if (a.background)
    std::erase_if(pixels, [&](const auto& r) { return std::int64_t(r.second.size()) < a.min_area; });
  std::fill_n(a.labels.as<std::int64_t>(), region.size(), 0);
  const std::int64_t h = a.x.dim(-2), w = a.x.dim(-1);
  std::int64_t label = 0;
  for (const auto& [r, members] : pixels) {
    long double row = 0, column = 0;
    for (const auto i : members) {
      a.labels.as<std::int64_t>()[i] = label + 1;
      row += static_cast<long double>(i / w % h), column += static_cast<long double>(i % w);
    }
    const auto size = static_cast<long double>(members.size());
    if (label < a.regions) {
      put(a.areas, label, size);
      if (a.first.given()) put(a.first, label, static_cast<long double>(r));
      if (a.centroids.given())
        put(a.centroids, 2 * label, row / size), put(a.centroids, 2 * label + 1, column / size);
    }
    ++label;
  }
  *a.count.as<std::int64_t>() = label;
}

struct Result {
  Labels labels, areas;
  std::vector<double> centroids;
  std::int64_t count = -1;
};
Result segmented(std::vector<float> x, std::int64_t h, std::vector<float> thresholds, A a, Stream& s) {
  const std::int64_t w = h ? std::int64_t(x.size()) / h : 0;
  Result r{Labels(x.size(), -1), Labels(std::size_t(a.regions), -1),
           std::vector<double>(2 * std::size_t(a.regions), -1.0)};
  x.push_back(0), thresholds.push_back(0), r.labels.push_back(-1);
  a.x = tensor(x.data(), {h, w});
  a.thresholds = tensor(thresholds.data(), {std::int64_t(thresholds.size()) - 1});
  a.labels = tensor(r.labels.data(), {h, w}), a.areas = tensor(r.areas.data(), {a.regions});
  a.centroids = tensor(r.centroids.data(), {a.regions, 2}), a.count = tensor(&r.count, {});
  call(image_segmentation, a, s);
  r.labels.pop_back();
  return r;
}
A listing(std::int64_t regions) {
  A a;
  a.regions = regions;
  return a;
}

constexpr Fact facts[] = {
    {"a diagonal: two regions of four neighbours, one of eight",
     [](Stream& s) {
       A a = listing(3);
       Result r = segmented({1, 0, 0, 1}, 2, {1}, a, s);
       expect(r.labels == Labels{1, 0, 0, 2} && r.count == 2 && r.areas[0] == 1, "four");
       a.connectivity = Connectivity::eight;
       r = segmented({1, 0, 0, 1}, 2, {1}, a, s);
       expect(r.labels == Labels{1, 0, 0, 1} && r.count == 1 && r.areas[0] == 2, "eight");
       expect(r.centroids[0] == 0.5 && r.centroids[1] == 0.5, "centroid");
       r = segmented({0, 1, 1, 0}, 2, {1}, a, s);
       expect(r.labels == Labels{0, 1, 1, 0}, "the other diagonal");
     }},
    {"classes: thresholds in any order, a pixel on a threshold is above it, NaN is class 0",
     [](Stream& s) {
       const Result r = segmented({0.5f, 1, 1.9f, 2, 9, NAN}, 1, {2, 1}, listing(4), s);
       expect(r.labels == Labels{0, 1, 1, 2, 2, 0} && r.count == 2, "classes");
     }},
    {"without background every pixel has a region",
     [](Stream& s) {
       A a = listing(2);
       a.background = false;
       Result r = segmented({0, 0, 5, 0}, 1, {1}, a, s);
       expect(r.labels == Labels{1, 1, 2, 3} && r.count == 3, "the third is counted and not listed");
       r = segmented({3, 4}, 1, {}, a, s);
       expect(r.labels == Labels{1, 1}, "no thresholds, no borders");
     }},
    {"small regions join the largest beside them, of equals the first; chains join at once",
     [](Stream& s) {
       A a = listing(9);
       a.background = false, a.min_area = 2;
       expect(segmented({1, 1, 2, 3, 3, 3}, 1, {2, 3}, a, s).labels == Labels{1, 1, 2, 2, 2, 2}, "largest");
       expect(segmented({1, 1, 2, 3, 3}, 1, {2, 3}, a, s).labels == Labels{1, 1, 1, 2, 2}, "first");
       expect(segmented({1, 2, 3, 4}, 1, {2, 3, 4}, a, s).labels == Labels{1, 1, 1, 1}, "chain");
     }},
    {"a small region alone stays without background, and is dropped with it",
     [](Stream& s) {
       A a = listing(9);
       a.min_area = 3;
       Result r = segmented({5, 5, 0, 5, 5, 5}, 1, {1}, a, s);
       expect(r.labels == Labels{0, 0, 0, 1, 1, 1} && r.count == 1 && r.areas[0] == 3, "with background");
       a.background = false;
       r = segmented({5, 5}, 1, {1}, a, s);
       expect(r.labels == Labels{1, 1} && r.count == 1, "without background");
     }},
    {"no pixels, no regions listed",
     [](Stream& s) {
       expect(segmented({}, 0, {1}, listing(2), s).count == 0, "empty");
       expect(segmented({2, 0, 2}, 1, {1}, listing(0), s).count == 2, "no capacity");
     }},
};

}  // namespace

extern constinit const Oracle<A> image_segmentation_oracle{image_segmentation, expected, facts};

}  // namespace kolmo::check
