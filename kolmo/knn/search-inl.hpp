// foreach_target.h includes this file once per instruction set, so it has no ordinary include guard.
#if defined(KOLMO_KNN_SEARCH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KOLMO_KNN_SEARCH_INL
#undef KOLMO_KNN_SEARCH_INL
#else
#define KOLMO_KNN_SEARCH_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "kolmo/knn/tree.hpp"

HWY_BEFORE_NAMESPACE();
namespace kolmo::knn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A node of a tree, or a leaf, whose level is -1.
struct Visit {
  std::int64_t node;
  int level;
};

/// Holds the k nearest points found so far, ordered by distance, then by row.
template <class T>
struct Nearest {
  int k;
  T distance[64];
  std::uint32_t row[64];

  explicit Nearest(int count) : k(count) {
    std::fill_n(distance, k, std::numeric_limits<T>::infinity());
    std::fill_n(row, k, Tree<T>::no_row);
  }
  T bound() const { return distance[k - 1]; }
  bool nearer(T d, std::uint32_t r, int than) const {
    return d < distance[than] || (d == distance[than] && r < row[than]);
  }
  void insert(T d, std::uint32_t r) {
    int i = k - 1;
    for (; i > 0 && nearer(d, r, i - 1); --i) distance[i] = distance[i - 1], row[i] = row[i - 1];
    distance[i] = d, row[i] = r;
  }
};

/// Searches a tree. D is the number of columns if it is known at compile time, else 0.
template <int D, class T>
class Search {
 public:
  explicit Search(const Tree<T>& tree) : t_(tree), d_(D ? D : tree.d) {}

  /// Finds the k nearest points. skip(row) is true for rows that do not count as neighbours.
  template <class Skip>
  void nearest(const T* q, std::int64_t own_leaf, Nearest<T>& best, const Skip& skip) const {
    scan(own_leaf, q, best, skip);
    around(
        own_leaf, q, q, [&]() HWY_ATTR { return best.bound(); },
        [&](std::int64_t l) HWY_ATTR { scan(l, q, best, skip); });
  }

  /// Calls visit(leaf) for the other leaves that are at most bound() away from the box [low, high] of points in a leaf,
  /// near ones first. A visit may lower the bound.
  template <class Bound, class Leaf>
  void around(std::int64_t own_leaf, const T* low, const T* high, const Bound& bound,
              const Leaf& visit) const {
    Visit stack[max_visits];
    T far[max_visits];
    int top = 0;
    const auto push = [&](const Visit& v, unsigned children) HWY_ATTR {
      HWY_ALIGN T distance[fan];
      const int base = top;
      for (unsigned m = near_children(v, low, high, bound(), distance) & children; m; m &= m - 1) {
        const int child = __builtin_ctz(m);
        int at = top++;
        for (; at > base && far[at - 1] < distance[child]; --at)  // the nearest on top
          stack[at] = stack[at - 1], far[at] = far[at - 1];
        stack[at] = {v.node * fan + child, v.level - 1}, far[at] = distance[child];
      }
    };
    for (int level = 0; level < t_.levels; ++level) {  // from the own leaf up: what is near is found first
      const std::int64_t own = own_leaf >> 3 * level;
      push({own / fan, level}, ~(1u << own % fan));
      while (top) {
        const Visit v = stack[--top];
        if (far[top] > bound()) continue;
        if (v.level < 0)
          visit(v.node);
        else
          push(v, ~0u);
      }
    }
  }

  /// Counts points with |p_c - q_c| < radius_c in every column.
  std::int64_t count(const T* q, const T* radius) const {
    std::int64_t found = 0;
    Visit stack[max_visits];
    int top = 0;
    stack[top++] = {0, t_.levels - 1};
    while (top) {
      const Visit v = stack[--top];
      unsigned inside, cut;
      meet_children(v, q, radius, inside, cut);
      found += points(v, inside);
      for (; cut; cut &= cut - 1) {
        const std::int64_t child = v.node * fan + __builtin_ctz(cut);
        if (v.level)
          stack[top++] = {child, v.level - 1};
        else
          found += count_leaf(child, q, radius);
      }
    }
    return found;
  }

 private:
  static constexpr int leaf = Tree<T>::leaf, fan = Tree<T>::fan, max_visits = fan * Tree<T>::max_levels;
  using Tag = hn::CappedTag<T, leaf>;
  using FanTag = hn::CappedTag<T, fan>;
  int d() const { return D ? D : d_; }

  template <class Mask>
  static unsigned bits_of(Mask mask) {
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(FanTag(), mask, bits);
    return bits[0];
  }

  /// Writes the distances of a node's boxes from the box [low, high]; returns which of them are at most `bound`.
  unsigned near_children(const Visit& v, const T* low, const T* high, T bound, T* distance) const {
    const FanTag tag;
    const T* box = t_.box[v.level] + v.node * fan * 2 * d();
    unsigned near = 0;
    for (int s = 0; s < fan; s += int(hn::Lanes(tag))) {
      auto far = hn::Zero(tag);
      for (int c = 0; c < d(); ++c) {
        const auto below = hn::Sub(hn::Load(tag, box + 2 * c * fan + s), hn::Set(tag, high[c]));
        const auto above = hn::Sub(hn::Set(tag, low[c]), hn::Load(tag, box + (2 * c + 1) * fan + s));
        far = hn::Max(far, hn::Max(below, above));
      }
      hn::Store(far, tag, distance + s);
      near |= bits_of(hn::Le(far, hn::Set(tag, bound))) << s;
    }
    if (bound < std::numeric_limits<T>::infinity()) return near;
    const std::int64_t children = t_.children(v.level) - v.node * fan;  // unused boxes are infinitely far
    return children < fan ? near & ((1u << children) - 1) : near;
  }

  /// Finds which of a node's boxes have all points within the radius, and which may have some.
  void meet_children(const Visit& v, const T* q, const T* radius, unsigned& inside, unsigned& cut) const {
    const FanTag tag;
    const T* box = t_.box[v.level] + v.node * fan * 2 * d();
    inside = cut = 0;
    for (int s = 0; s < fan; s += int(hn::Lanes(tag))) {
      auto some = hn::FirstN(tag, fan), all = some;
      for (int c = 0; c < d(); ++c) {
        const auto at = hn::Set(tag, q[c]), reach = hn::Set(tag, radius[c]);
        const auto below = hn::Sub(at, hn::Load(tag, box + 2 * c * fan + s));
        const auto above = hn::Sub(hn::Load(tag, box + (2 * c + 1) * fan + s), at);
        all = hn::And(all, hn::Lt(hn::Max(below, above), reach));
        some = hn::And(some, hn::Lt(hn::Neg(reach), hn::Min(below, above)));
      }
      const unsigned met = bits_of(some), whole = bits_of(all) & met;
      inside |= whole << s, cut |= (met & ~whole) << s;
    }
  }

  /// The number of points in some of a node's children.
  std::int64_t points(const Visit& v, unsigned children) const {
    if (!children) return 0;
    const std::int64_t width = std::int64_t(1) << 3 * v.level;  // leaves of a child
    const std::int64_t last = (v.node * fan + 31 - __builtin_clz(children)) * width;
    return (__builtin_popcount(children) - 1) * width * leaf + t_.size(last, last + width);
  }

  template <class Skip>
  void scan(std::int64_t l, const T* q, Nearest<T>& best, const Skip& skip) const {
    const Tag tag;
    const T* p = t_.leaf_points(l);
    const std::uint32_t* rows = t_.row + l * leaf;
    HWY_ALIGN T distance[leaf];
    for (int s = 0; s < leaf; s += int(hn::Lanes(tag))) {
      auto far = hn::Abs(hn::Sub(hn::LoadU(tag, p + s), hn::Set(tag, q[0])));
      for (int c = 1; c < d(); ++c)
        far = hn::Max(far, hn::Abs(hn::Sub(hn::LoadU(tag, p + c * leaf + s), hn::Set(tag, q[c]))));
      const auto close = hn::Le(far, hn::Set(tag, best.bound()));
      if (hn::AllFalse(tag, close)) continue;
      hn::Store(far, tag, distance);
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(tag, close, bits);
      for (unsigned m = bits[0] | unsigned(bits[1]) << 8; m; m &= m - 1) {
        const int i = __builtin_ctz(m);
        const std::uint32_t r = rows[s + i];
        if (best.nearer(distance[i], r, best.k - 1) && !skip(r)) best.insert(distance[i], r);
      }
    }
  }

  std::int64_t count_leaf(std::int64_t l, const T* q, const T* radius) const {
    const Tag tag;
    const T* p = t_.leaf_points(l);
    std::int64_t found = 0;
    for (int s = 0; s < leaf; s += int(hn::Lanes(tag))) {
      auto in = hn::Lt(hn::Abs(hn::Sub(hn::LoadU(tag, p + s), hn::Set(tag, q[0]))), hn::Set(tag, radius[0]));
      for (int c = 1; c < d(); ++c)
        in = hn::And(in, hn::Lt(hn::Abs(hn::Sub(hn::LoadU(tag, p + c * leaf + s), hn::Set(tag, q[c]))),
                                hn::Set(tag, radius[c])));
      found += std::int64_t(hn::CountTrue(tag, in));
    }
    return found;
  }

  const Tree<T>& t_;
  int d_;
};

}  // namespace HWY_NAMESPACE
}  // namespace kolmo::knn
HWY_AFTER_NAMESPACE();
#endif
