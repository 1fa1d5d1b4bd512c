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

inline constexpr int max_depth = 64;
struct Visit {
  std::int64_t node, a, b;
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
    Visit stack[max_depth];
    T far[max_depth];
    int top = 0;
    stack[top] = {0, 0, t_.leaves}, far[top++] = 0;
    while (top) {
      Visit v = stack[--top];
      if (far[top] > best.bound()) continue;
      while (v.b - v.a > 1) {
        const std::int64_t m = (v.a + v.b) / 2;
        Visit near{v.node + 1, v.a, m}, other{v.node + 2 * (m - v.a), m, v.b};
        T near_distance = box_distance(near.node, q), other_distance = box_distance(other.node, q);
        if (other_distance < near_distance) std::swap(near, other), std::swap(near_distance, other_distance);
        if (other_distance <= best.bound()) stack[top] = other, far[top++] = other_distance;
        if (near_distance > best.bound()) {
          v.a = v.b;
          break;
        }
        v = near;
      }
      if (v.a < v.b && v.a != own_leaf) scan(v.a, q, best, skip);
    }
  }

  /// Counts points with |p_c - q_c| < radius_c in every column.
  std::int64_t count(const T* q, const T* radius) const {
    std::int64_t found = 0;
    Visit stack[max_depth];
    int top = 0;
    stack[top++] = {0, 0, t_.leaves};
    while (top) {
      const Visit v = stack[--top];
      bool inside = true, outside = false;
      const T *lower = t_.box + v.node * 2 * d(), *upper = lower + d();
      for (int c = 0; c < d(); ++c) {
        const T below = q[c] - lower[c], above = upper[c] - q[c];
        inside &= below < radius[c] && above < radius[c];
        outside |= !(-below < radius[c]) || !(-above < radius[c]);
      }
      if (outside) continue;
      if (inside) {
        found += t_.size(v.a, v.b);
      } else if (v.b - v.a == 1) {
        found += count_leaf(v.a, q, radius);
      } else {
        const std::int64_t m = (v.a + v.b) / 2;
        stack[top++] = {v.node + 2 * (m - v.a), m, v.b};
        stack[top++] = {v.node + 1, v.a, m};
      }
    }
    return found;
  }

 private:
  static constexpr int leaf = Tree<T>::leaf;
  using Tag = hn::CappedTag<T, leaf>;
  int d() const { return D ? D : d_; }

  T box_distance(std::int64_t node, const T* q) const {
    const T *lower = t_.box + node * 2 * d(), *upper = lower + d();
    T far = 0;
    for (int c = 0; c < d(); ++c) far = std::max(far, std::max(lower[c] - q[c], q[c] - upper[c]));
    return far;
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
