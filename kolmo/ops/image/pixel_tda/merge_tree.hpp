#pragma once
#include <cmath>
#include <type_traits>

#include "kolmo/base/atomic.hpp"
#include "kolmo/base/quotient.hpp"
#include "kolmo/base/status.hpp"
#include "kolmo/base/tensor.hpp"

namespace kolmo {

template <class T>
KOLMO_HD bool is_nan([[maybe_unused]] T v) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(v);
  else
    return false;
}

/// The merge trees of images, built by all threads at once. Pixels enter in an order; the first pixel of a
/// component stands for the component. Each pixel u has a triplet (u, s, v): when s has entered, u is in the
/// component of the older pixel v. For a pixel that joins an older component as it enters, s = u. Any other
/// pixel begins a component, and in the complete tree s is the pixel at which that component dies. With
/// `holes` pixels enter in reverse, after all that surrounds an image: holes of the sublevel sets are the
/// components that this finds (Alexander duality), with birth and death exchanged.
template <class T>
struct MergeTree {
  using Pixel = std::uint32_t;
  static constexpr Pixel never = ~Pixel(0);
  const T* x;
  /// For each image, of its h w pixels and the outside: s in the upper half of a word, v in the lower one.
  Word* triplet;
  std::int64_t h, w, images;
  bool corners;  ///< whether pixels are neighbours across a corner
  bool holes;

  struct Triplet {
    Word bits;
    KOLMO_HD Pixel saddle() const { return Pixel(bits >> 32); }
    KOLMO_HD Pixel older() const { return Pixel(bits); }
  };
  KOLMO_HD static Word pack(Pixel s, Pixel v) { return Word(s) << 32 | v; }

  /// The tree of one image.
  struct Image {
    const T* x;
    Word* triplet;
    std::int64_t h, w;
    bool corners, holes;

    KOLMO_HD Pixel outside() const { return Pixel(h * w); }
    KOLMO_HD Triplet at(Pixel u) const { return {atomic_read(triplet + u)}; }
    /// Whether p enters before q. A NaN counts as the largest value.
    KOLMO_HD bool before(Pixel p, Pixel q) const {
      if (p == outside() || q == outside()) return p == outside() && p != q;
      const T a = x[holes ? q : p], b = x[holes ? p : q];
      const bool less = a < b || (is_nan(b) && !is_nan(a)), more = b < a || (is_nan(a) && !is_nan(b));
      return less || (!more && (holes ? q < p : p < q));
    }
    KOLMO_HD bool reaches(Pixel saddle, Pixel s) const {
      return saddle != never && (saddle == s || before(saddle, s));
    }
    /// Whether u joins an older component when it enters.
    KOLMO_HD bool joins_at_once(Pixel u) const { return at(u).saddle() == u; }

    /// Finds the component of u when s has entered, and shortens the path to it.
    KOLMO_HD Pixel component(Pixel u, Pixel s) const {
      Triplet own = at(u);
      while (reaches(own.saddle(), s)) {
        const Pixel v = own.older();
        const Triplet next = at(v);
        if (reaches(next.saddle(), own.saddle()))
          atomic_exchange_if(triplet + u, own.bits, pack(own.saddle(), next.older()));
        u = v, own = next;
      }
      return u;
    }
    /// Records that the components of u and v meet at s.
    KOLMO_HD void merge(Pixel u, Pixel s, Pixel v) const {
      for (;;) {
        u = component(u, s), v = component(v, s);
        if (u == v) return;
        if (before(u, v)) {
          const Pixel older = u;
          u = v, v = older;
        }
        const Triplet own = at(u);
        if (reaches(own.saddle(), s)) continue;
        if (atomic_exchange_if(triplet + u, own.bits, pack(s, v)) != own.bits) continue;
        if (own.saddle() == never) return;
        // The saddle at which u was known to meet another component later is one at which v now meets it.
        u = v, s = own.saddle(), v = own.older();
      }
    }
    /// Neighbour number k of 8, clockwise from the one above; `outside` beyond the border.
    KOLMO_HD Pixel neighbour(std::int64_t row, std::int64_t column, int k) const {
      const std::int64_t r = row + (k >= 3 && k <= 5) - (k == 7 || k <= 1),
                         c = column + (k >= 1 && k <= 3) - (k >= 5);
      return r < 0 || r >= h || c < 0 || c >= w ? outside() : Pixel(r * w + c);
    }
    /// The set of neighbours that enter before p, as bits. A neighbour at a corner has an odd number. It is
    /// in the set if it connects the two beside it, or if pixels are neighbours across a corner.
    KOLMO_HD unsigned earlier(Pixel p, std::int64_t row, std::int64_t column) const {
      unsigned set = 0;
      for (int k = 0; k < 8; ++k) {
        const Pixel q = neighbour(row, column, k);
        set |= unsigned(q == outside() ? holes : before(q, p)) << k;
      }
      const unsigned sides = set & 0x55, both = sides << 1 & (sides >> 1 | sides << 7) & 0xaa;
      return corners ? set | both : set & (both | 0x55);
    }
  };

  KOLMO_HD Image image(std::int64_t i) const {
    return {x + i * h * w, triplet + i * (h * w + 1), h, w, corners, holes};
  }
  std::int64_t pixels() const { return images * h * w; }
};

/// Lets every pixel join the neighbour that enters first, if this enters before the pixel.
template <class T>
struct JoinFirstNeighbour {
  MergeTree<T> tree;
  Status status;
  std::int64_t items() const { return tree.pixels(); }
  KOLMO_HD void operator()(std::int64_t i) const {
    using Pixel = typename MergeTree<T>::Pixel;
    const std::int64_t area = tree.h * tree.w, image = quotient(i, area);
    const auto m = tree.image(image);
    const auto p = Pixel(i - image * area);
    const std::int64_t row = quotient(p, tree.w), column = p - row * tree.w;
    if (is_nan(m.x[p])) status.report(0, i);
    Pixel first = p;
    for (int k = 0; k < 8; k += tree.corners ? 1 : 2) {
      const Pixel q = m.neighbour(row, column, k);
      if ((q != m.outside() || tree.holes) && m.before(q, first)) first = q;
    }
    m.triplet[p] = first == p ? tree.pack(tree.never, p) : tree.pack(p, first);
    if (p == 0) m.triplet[area] = tree.pack(tree.never, m.outside());
  }
};

/// Lets pixels that joined another one as they entered follow it by `steps` more, towards the first pixel of
/// its component.
template <class T>
struct FollowNeighbours {
  MergeTree<T> tree;
  std::int64_t steps;
  std::int64_t items() const { return tree.pixels(); }
  KOLMO_HD void operator()(std::int64_t i) const {
    using Pixel = typename MergeTree<T>::Pixel;
    const std::int64_t area = tree.h * tree.w, image = quotient(i, area);
    const auto m = tree.image(image);
    const auto p = Pixel(i - image * area);
    if (!m.joins_at_once(p)) return;
    Pixel v = m.at(p).older();
    for (std::int64_t step = 0; step < steps && m.joins_at_once(v); ++step) v = m.at(v).older();
    atomic_write(m.triplet + p, tree.pack(p, v));
  }
};

/// Merges the components that meet at a pixel: those of its earlier neighbours, except neighbours that are
/// connected beside it.
template <class T>
struct MeetAtPixel {
  MergeTree<T> tree;
  std::int64_t items() const { return tree.pixels(); }
  KOLMO_HD void operator()(std::int64_t i) const {
    using Pixel = typename MergeTree<T>::Pixel;
    const std::int64_t area = tree.h * tree.w, image = quotient(i, area);
    const auto m = tree.image(image);
    const auto p = Pixel(i - image * area);
    const std::int64_t row = quotient(p, tree.w), column = p - row * tree.w;
    const unsigned set = m.earlier(p, row, column), begins = set & ~(set << 1 | set >> 7);
    Pixel first = tree.never;
    for (int k = 0; k < 8; ++k) {
      if (!(begins >> k & 1)) continue;
      const Pixel q = m.neighbour(row, column, k);
      if (first == tree.never)
        first = q;
      else
        m.merge(first, p, q);
    }
  }
};

/// Builds the trees; step(f) calls f(i) for all items of f.
template <class T, class Step>
void build(const MergeTree<T>& tree, Status status, const Step& step) {
  step(JoinFirstNeighbour<T>{tree, status});
  // Paths of up to 8^4 pixels become one step long. Longer ones are followed to their ends.
  for (const std::int64_t steps : {8, 8, 8, 8}) step(FollowNeighbours<T>{tree, steps});
  step(FollowNeighbours<T>{tree, std::int64_t(1) << 62});
  step(MeetAtPixel<T>{tree});
}

}  // namespace kolmo
