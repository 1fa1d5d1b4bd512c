#pragma once
#include <algorithm>
#include <bit>

#include "kolmo/base/atomic.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/ops/image/image_segmentation/image_segmentation.hpp"
#include "kolmo/skeleton/ranks.hpp"

namespace kolmo {

/// The workspace and the sizes. Regions are trees of pixels: the parent of a root is the root itself, that of
/// any other pixel is a pixel that comes before it. So the root of a region is its first pixel.
struct Segments {
  static constexpr Word none = ~Word(0);
  static constexpr std::int64_t strip = 64;  ///< pixels of a row that one item follows
  std::int64_t h, w, n, strips, capacity;
  int neighbours;
  std::uint16_t* level;
  Word *parent, *area, *largest, *choice;  ///< used for roots; the last three serve merging
  Word* sums;                              ///< area, sum of rows and sum of columns of each listed region
  Ranks ranks;

  Segments(Arena& arena, const ImageSegmentationArgs& a)
      : h(a.x.dim(-2)),
        w(a.x.dim(-1)),
        n(a.x.size()),
        strips((w + strip - 1) / strip),
        capacity(a.regions),
        neighbours(a.connectivity == Connectivity::four ? 2 : 4),
        level(arena.take<std::uint16_t>(n)),
        parent(arena.take<Word>(n)),
        area(arena.take<Word>(a.min_area > 1 ? n : 0)),
        largest(arena.take<Word>(a.min_area > 1 ? n : 0)),
        choice(arena.take<Word>(a.min_area > 1 ? n : 0)),
        sums(arena.take<Word>(3 * capacity)),
        ranks(arena, n) {}

  std::int64_t all_strips() const { return w ? n / w * strips : 0; }
  /// Calls f(i, column) for the pixels of a strip, in order.
  template <class F>
  KOLMO_HD void each_of_strip(std::int64_t item, const F& f) const {
    const std::int64_t row = quotient(item, strips), begin = (item - row * strips) * strip;
    for (std::int64_t c = begin; c < begin + strip && c < w; ++c) f(row * w + c, c);
  }
  KOLMO_HD bool has_region(std::int64_t i) const { return parent[i] != none; }
  KOLMO_HD bool has_above(std::int64_t row) const { return row != quotient(row, h) * h; }
  /// Calls f(j) for the neighbours j < i: those on the left and above and, if pixels have eight neighbours,
  /// those above on the left and on the right.
  template <class F>
  KOLMO_HD void each_before(std::int64_t i, const F& f) const {
    const std::int64_t row = quotient(i, w), column = i - row * w;
    const bool above = has_above(row);
    if (column > 0) f(i - 1);
    if (above) f(i - w);
    if (neighbours == 4 && above && column > 0) f(i - w - 1);
    if (neighbours == 4 && above && column + 1 < w) f(i - w + 1);
  }
  /// Finds the root of i, and shortens the path to it. If another thread replaces a parent at the same time,
  /// that thread keeps the old parent connected.
  KOLMO_HD Word root(Word i) const {
    Word up = atomic_read(parent + i);
    while (up != i) {
      const Word next = atomic_read(parent + up);
      if (next != up) atomic_write(parent + i, next);
      i = up, up = next;
    }
    return i;
  }
  KOLMO_HD void unite(Word a, Word b) const {
    for (;;) {
      a = root(a), b = root(b);
      if (a == b) return;
      const Word low = a < b ? a : b, high = a < b ? b : a, old = atomic_min(parent + high, low);
      if (old == high) return;
      a = old, b = low;
    }
  }
};

template <class T>
struct ClassifyPixels {
  const T *x, *thresholds;
  std::int64_t k, n;
  std::uint16_t* level;
  std::int64_t items() const { return n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    std::int64_t c = 0;
    for (std::int64_t j = 0; j < k; ++j) c += thresholds[j] <= x[i];
    level[i] = std::uint16_t(c);
  }
};

/// Makes equal neighbours in a strip one region.
struct BeginRegions {
  Segments s;
  bool background;
  std::int64_t items() const { return s.all_strips(); }
  KOLMO_HD void operator()(std::int64_t item) const {
    std::int64_t start = -1;
    s.each_of_strip(item, [&](std::int64_t i, std::int64_t) {
      if (start < 0 || s.level[i] != s.level[start]) start = i;
      s.parent[i] = background && s.level[i] == 0 ? Segments::none : Word(start);
    });
  }
};

struct LinkNeighbours {
  Segments s;
  std::int64_t items() const { return s.n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    const std::uint16_t own = s.level[i];
    if (atomic_read(s.parent + i) == Segments::none) return;
    const std::int64_t row = quotient(i, s.w), column = i - row * s.w;
    const bool above = s.has_above(row);
    const bool left = column > 0 && s.level[i - 1] == own, up = above && s.level[i - s.w] == own,
               up_left = above && column > 0 && s.level[i - s.w - 1] == own;
    if (left && column % Segments::strip == 0) s.unite(Word(i), Word(i) - 1);
    const Word above_it = Word(i) - Word(s.w);
    if (up && !(left && up_left)) s.unite(Word(i), above_it);
    if (s.neighbours < 4 || up) return;
    if (up_left && !left) s.unite(Word(i), above_it - 1);
    if (above && column + 1 < s.w && s.level[i - s.w + 1] == own) s.unite(Word(i), above_it + 1);
  }
};

struct FlattenRegions {
  Segments s;
  std::int64_t items() const { return s.n; }
  /// Follows the path to the root. The path is not shortened, since that could undo what another thread has
  /// written.
  KOLMO_HD void operator()(std::int64_t i) const {
    Word up = atomic_read(s.parent + i);
    if (up == Segments::none) return;
    for (Word next; (next = atomic_read(s.parent + up)) != up;) up = next;
    atomic_write(s.parent + i, up);
  }
};

struct ClearWords {
  Word* words;
  std::int64_t n;
  std::int64_t items() const { return n; }
  KOLMO_HD void operator()(std::int64_t i) const { words[i] = 0; }
};

struct AddAreas {
  Segments s;
  std::int64_t items() const { return s.all_strips(); }
  KOLMO_HD void operator()(std::int64_t item) const {
    Word of = Segments::none, pixels = 0;
    s.each_of_strip(item, [&](std::int64_t i, std::int64_t) {
      if (s.parent[i] != of) {
        if (of != Segments::none) atomic_add(s.area + of, pixels);
        of = s.parent[i], pixels = 0;
      }
      ++pixels;
    });
    if (of != Segments::none) atomic_add(s.area + of, pixels);
  }
};

/// Calls f(small, other) for every border between two regions, in both directions, where `small` has less
/// than `least` pixels.
template <class F>
KOLMO_HD void each_border(const Segments& s, Word least, std::int64_t i, const F& f) {
  const Word own = s.parent[i];
  if (own == Segments::none) return;
  s.each_before(i, [&](std::int64_t j) {
    const Word other = s.parent[j];
    if (other == own || other == Segments::none) return;
    if (s.area[own] < least) f(own, other);
    if (s.area[other] < least) f(other, own);
  });
}
struct FindLargestBeside {
  Segments s;
  Word least;
  std::int64_t items() const { return s.n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    each_border(s, least, i, [&](Word small, Word other) { atomic_max(s.largest + small, s.area[other]); });
  }
};
struct ChooseFirstOfLargest {
  Segments s;
  Word least;
  std::int64_t items() const { return s.n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    each_border(s, least, i, [&](Word small, Word other) {
      if (s.area[other] == s.largest[small]) atomic_min(s.choice + small, other);
    });
  }
};

struct BeginRound {
  Segments s;
  std::int64_t items() const { return s.n; }
  KOLMO_HD void operator()(std::int64_t i) const { s.largest[i] = 0, s.choice[i] = Segments::none; }
};
struct JoinChosen {
  Segments s;
  std::int64_t items() const { return s.n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    if (s.choice[i] != Segments::none) s.unite(Word(i), s.choice[i]);
  }
};
/// Adds the areas of regions that were joined to the regions they now belong to.
struct MoveAreas {
  Segments s;
  std::int64_t items() const { return s.n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    const Word root = s.parent[i];
    if (root == Segments::none || root == Word(i)) return;
    const Word moved = atomic_read(s.area + i);
    if (moved == 0) return;
    atomic_add(s.area + root, moved), atomic_write(s.area + i, 0);
  }
};
struct DropSmall {
  Segments s;
  Word least;
  std::int64_t items() const { return s.n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    if (s.has_region(i) && s.area[s.parent[i]] < least) s.parent[i] = Segments::none;
  }
};

struct IsRoot {
  Segments s;
  KOLMO_HD bool operator()(std::int64_t i) const { return s.parent[i] == Word(i); }
};

/// Writes the labels, and sums over the pixels of the regions that are listed.
struct LabelPixels {
  Segments s;
  std::int64_t *labels, *first;
  std::int64_t items() const { return s.all_strips(); }
  KOLMO_HD void operator()(std::int64_t item) const {
    Word of = Segments::none, pixels = 0, columns = 0;
    std::int64_t label = 0;
    const std::int64_t row = quotient(item, s.strips) % s.h;
    const auto finish = [&] {
      if (of == Segments::none || label > s.capacity) return;
      Word* const sum = s.sums + 3 * (label - 1);
      atomic_add(sum, pixels), atomic_add(sum + 1, pixels * Word(row)), atomic_add(sum + 2, columns);
    };
    s.each_of_strip(item, [&](std::int64_t i, std::int64_t column) {
      if (s.parent[i] != of) {
        finish();
        of = s.parent[i], pixels = columns = 0;
        label = of == Segments::none ? 0 : s.ranks(std::int64_t(of)) + 1;
      }
      labels[i] = label;
      if (first && of == Word(i) && label <= s.capacity) first[label - 1] = i;
      ++pixels, columns += Word(column);
    });
    finish();
  }
};
struct ListRegions {
  Segments s;
  const std::int64_t* count;
  std::int64_t* areas;
  double* centroids;
  std::int64_t items() const { return s.capacity; }
  KOLMO_HD void operator()(std::int64_t r) const {
    if (r >= *count) return;
    const Word* const sum = s.sums + 3 * r;
    areas[r] = std::int64_t(sum[0]);
    if (!centroids) return;
    centroids[2 * r] = double(sum[1]) / double(sum[0]);
    centroids[2 * r + 1] = double(sum[2]) / double(sum[0]);
  }
};

/// A region that merges in every round has at least 2^r pixels after r rounds.
inline int merging_rounds(std::int64_t least) { return least > 1 ? std::bit_width(Word(least - 1)) : 0; }

/// Computes the operator; step(f) calls f(i) for all items of f.
template <class Step>
void segment(const ImageSegmentationArgs& a, const Segments& s, const Step& step) {
  visit<double, float, std::uint16_t, std::uint8_t>(a.x.dtype, [&]<class T> {
    step(ClassifyPixels<T>{a.x.as<T>(), a.thresholds.as<T>(), a.thresholds.size(), s.n, s.level});
  });
  step(BeginRegions{s, a.background});
  step(LinkNeighbours{s});
  step(FlattenRegions{s});
  if (a.min_area > 1) {
    const auto least = Word(a.min_area);
    step(ClearWords{s.area, s.n});
    step(AddAreas{s});
    for (int r = 0; r < merging_rounds(std::min(a.min_area, s.n)); ++r) {
      step(BeginRound{s});
      step(FindLargestBeside{s, least});
      step(ChooseFirstOfLargest{s, least});
      step(JoinChosen{s});
      step(FlattenRegions{s});
      step(MoveAreas{s});
    }
    if (a.background) step(DropSmall{s, least});
  }
  auto* const count = a.count.as<std::int64_t>();
  find_ranks(s.ranks, IsRoot{s}, count, step);
  step(ClearWords{s.sums, 3 * s.capacity});
  step(LabelPixels{s, a.labels.as<std::int64_t>(), a.first.as<std::int64_t>()});
  step(ListRegions{s, count, a.areas.as<std::int64_t>(), a.centroids.as<double>()});
}

}  // namespace kolmo
