// foreach_target.h includes this file once per instruction set, so it has no ordinary include guard.
#if defined(KOLMO_KNN_LEAF_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KOLMO_KNN_LEAF_INL
#undef KOLMO_KNN_LEAF_INL
#else
#define KOLMO_KNN_LEAF_INL
#endif

#include <hwy/highway.h>

#include "kolmo/knn/search-inl.hpp"
#include "kolmo/knn/sorted.hpp"

HWY_BEFORE_NAMESPACE();
namespace kolmo::knn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Finds the distances of the k nearest neighbours of all points of a leaf in one walk of the tree: lanes are the points.
template <int D, class T>
class LeafSearch {
 public:
  LeafSearch(const Tree<T>& tree, int k) : t_(tree), search_(tree), k_(k) {}

  /// `windowed` if rows other than a point itself may be excluded: then excluded(row, other) tells which are.
  template <class Excluded>
  void nearest(std::int64_t l, bool windowed, const Excluded& excluded) {
    const int points = int(t_.size(l, l + 1));
    for (int i = 0; i < std::max(k_, few); ++i)
      for (int s = 0; s < leaf; ++s)
        distance_[i][s] = s < points ? infinity : -infinity;  // nothing is near an unused slot
    const T* box = t_.box[0] + l / fan * fan * 2 * d() + l % fan;
    T low[max_columns], high[max_columns];
    for (int c = 0; c < d(); ++c) low[c] = box[2 * c * fan], high[c] = box[(2 * c + 1) * fan];
    own_ = l;
    const auto visit = [&](std::int64_t other) HWY_ATTR {
      if (k_ <= few && !windowed)
        scan_for_few(other);
      else
        scan(other, windowed, excluded);
    };
    visit(l);
    search_.around(
        l, low, high, [&]() HWY_ATTR { return bound_; }, visit);
  }
  /// The distance of the k-th neighbour of each point of the leaf.
  const T* kth() const { return distance_[k_ - 1]; }

 private:
  static constexpr int leaf = Tree<T>::leaf, fan = Tree<T>::fan;
  static constexpr int few = 4;  // neighbours, whose distances registers hold
  using Tag = hn::CappedTag<T, leaf>;
  using Vector = hn::Vec<Tag>;
  int d() const { return D ? D : t_.d; }

  /// Returns the distances of a vector of points of the own leaf, from point s on, from the box of a leaf.
  Vector gap_to(std::int64_t l, int s) const {
    const Tag tag;
    const T* q = t_.leaf_points(own_);
    const T* box = t_.box[0] + l / fan * fan * 2 * d() + l % fan;
    auto gap = hn::Zero(tag);
    for (int c = 0; c < d(); ++c) {
      const auto at = hn::LoadU(tag, q + c * leaf + s);
      gap = hn::Max(gap, hn::Max(hn::Sub(hn::Set(tag, box[2 * c * fan]), at),
                                 hn::Sub(at, hn::Set(tag, box[(2 * c + 1) * fan]))));
    }
    return gap;
  }
  /// Returns the distances of these points from point j of a leaf. A point of the own leaf is infinitely far from itself.
  Vector far_from(std::int64_t l, int j, int s) const {
    const Tag tag;
    const T *q = t_.leaf_points(own_), *p = t_.leaf_points(l);
    auto far = hn::Abs(hn::Sub(hn::LoadU(tag, q + s), hn::Set(tag, p[j])));
    for (int c = 1; c < d(); ++c)
      far = hn::Max(far, hn::Abs(hn::Sub(hn::LoadU(tag, q + c * leaf + s), hn::Set(tag, p[c * leaf + j]))));
    if (l == own_)
      far = hn::IfThenElse(hn::Eq(hn::Iota(tag, T(s)), hn::Set(tag, T(j))), hn::Set(tag, infinity), far);
    return far;
  }

  /// Takes every point of a leaf into the lists of the four nearest, without a branch.
  void scan_for_few(std::int64_t l) {
    const Tag tag;
    const int points = int(t_.size(l, l + 1));
    auto bound = hn::Set(tag, -infinity);
    for (int s = 0; s < leaf; s += int(hn::Lanes(tag))) {
      auto kth = hn::Load(tag, distance_[k_ - 1] + s);
      if (l == own_ || !hn::AllFalse(tag, hn::Lt(gap_to(l, s), kth))) {
        auto a = hn::Load(tag, distance_[0] + s), b = hn::Load(tag, distance_[1] + s),
             c = hn::Load(tag, distance_[2] + s), d = hn::Load(tag, distance_[3] + s);
        for (int j = 0; j < points; ++j) {
          const auto far = far_from(l, j, s);
          d = hn::Max(c, hn::Min(d, far)), c = hn::Max(b, hn::Min(c, far)), b = hn::Max(a, hn::Min(b, far));
          a = hn::Min(a, far);
        }
        hn::Store(a, tag, distance_[0] + s), hn::Store(b, tag, distance_[1] + s);
        hn::Store(c, tag, distance_[2] + s), hn::Store(d, tag, distance_[3] + s);
        kth = hn::Load(tag, distance_[k_ - 1] + s);
      }
      bound = hn::Max(bound, kth);
    }
    bound_ = hn::GetLane(hn::MaxOfLanes(tag, bound));
  }

  template <class Excluded>
  void scan(std::int64_t l, bool windowed, const Excluded& excluded) {
    const Tag tag;
    auto bound = hn::Set(tag, -infinity);
    for (int s = 0; s < leaf; s += int(hn::Lanes(tag))) {
      auto kth = hn::Load(tag, distance_[k_ - 1] + s);
      const auto gap = gap_to(l, s);
      for (int j = 0; j < leaf && (l == own_ || !hn::AllFalse(tag, hn::Lt(gap, kth))); ++j) {
        auto far = far_from(l, j, s);
        const auto near = hn::Lt(far, kth);
        if (hn::AllFalse(tag, near)) continue;
        far = hn::IfThenElse(near, far, hn::Set(tag, infinity));
        if (windowed) far = without_excluded(far, near, s, t_.row[l * leaf + j], excluded);
        for (int i = 0; i < k_; ++i) {
          const auto known = hn::Load(tag, distance_[i] + s);
          hn::Store(hn::Min(known, far), tag, distance_[i] + s);
          far = hn::Max(known, far);
        }
        kth = hn::Load(tag, distance_[k_ - 1] + s);
      }
      bound = hn::Max(bound, kth);
    }
    bound_ = hn::GetLane(hn::MaxOfLanes(tag, bound));
  }

  template <class Excluded>
  Vector without_excluded(Vector far, hn::Mask<Tag> near, int s, std::uint32_t other,
                          const Excluded& excluded) const {
    const Tag tag;
    HWY_ALIGN T distance[leaf];
    hn::Store(far, tag, distance);
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(tag, near, bits);
    for (unsigned m = bits[0] | unsigned(bits[1]) << 8; m; m &= m - 1) {
      const int lane = __builtin_ctz(m);
      if (excluded(t_.row[own_ * leaf + s + lane], other)) distance[lane] = infinity;
    }
    return hn::Load(tag, distance);
  }

  static constexpr T infinity = std::numeric_limits<T>::infinity();
  const Tree<T>& t_;
  Search<D, T> search_;
  int k_;
  std::int64_t own_ = 0;
  T bound_ = 0;
  HWY_ALIGN T distance_[64][leaf];  // of each lane, ascending
};

/// Counts the values with |value - q| < radius for `leaf` values q at once: bisects the cells around both ends of the interval.
template <class T>
HWY_NOINLINE void count_near(const Cells<T>& cells, std::int64_t n, const T* q, const T* radius,
                             std::int64_t* count) {
  using Index = hwy::MakeSigned<T>;
  constexpr int leaf = Tree<T>::leaf;
  const hn::CappedTag<T, leaf> tag;
  const hn::CappedTag<Index, leaf> index;
  HWY_ALIGN Index at_least[leaf], at_most[leaf], first[leaf], end[leaf];
  const auto bracket = [&](int i, T v) {
    const std::int32_t c = cells.cell(v);
    at_least[i] = Index(cells.start[std::max(0, c - 1)]);
    at_most[i] = c + 2 > cells.last ? Index(n) : Index(cells.start[c + 2]);
  };
  const auto bisect = [&](Index* found, const auto& before) HWY_ATTR {
    for (int s = 0; s < leaf; s += int(hn::Lanes(tag))) {
      auto low = hn::Load(index, at_least + s), high = hn::Load(index, at_most + s);
      while (!hn::AllFalse(index, hn::Lt(low, high))) {
        const auto middle = hn::ShiftRight<1>(hn::Add(low, high));
        const auto value = hn::GatherIndex(tag, cells.value, middle);
        const auto open = hn::Lt(low, high), left = hn::RebindMask(index, before(value, s));
        low = hn::IfThenElse(hn::And(open, left), hn::Add(middle, hn::Set(index, 1)), low);
        high = hn::IfThenElse(hn::AndNot(left, open), middle, high);
      }
      hn::Store(low, index, found + s);
    }
  };
  for (int i = 0; i < leaf; ++i) bracket(i, q[i] - radius[i]);
  bisect(first, [&](auto value, int s) HWY_ATTR {
    return hn::Not(hn::Lt(hn::Sub(hn::LoadU(tag, q + s), value), hn::LoadU(tag, radius + s)));
  });
  for (int i = 0; i < leaf; ++i) bracket(i, q[i] + radius[i]);
  bisect(end, [&](auto value, int s) HWY_ATTR {
    return hn::Lt(hn::Sub(value, hn::LoadU(tag, q + s)), hn::LoadU(tag, radius + s));
  });
  for (int i = 0; i < leaf; ++i) count[i] = std::max<std::int64_t>(0, end[i] - first[i]);
}

}  // namespace HWY_NAMESPACE
}  // namespace kolmo::knn
HWY_AFTER_NAMESPACE();
#endif
