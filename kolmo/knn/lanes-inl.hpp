// Included once per vector target by foreach_target.h: no ordinary include guard.
#if defined(KOLMO_KNN_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KOLMO_KNN_LANES_INL
#undef KOLMO_KNN_LANES_INL
#else
#define KOLMO_KNN_LANES_INL
#endif

#include <hwy/highway.h>

#include <utility>

#include "kolmo/knn/lanes.hpp"

HWY_BEFORE_NAMESPACE();
namespace kolmo::knn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The k smallest values seen in each lane, ascending. K is k, or 0 when k is known at run time only.
template <int K, class D>
class Smallest {
 public:
  using V = hn::Vec<D>;
  Smallest(D d, int k) : k_(k) {
    for (int i = 0; i < size(); ++i) best_[i] = hn::Set(d, std::numeric_limits<hn::TFromD<D>>::infinity());
  }
  HWY_INLINE void add(D d, V v) {
    if constexpr (K > 0) {  // unrolled: the array lives in registers
      [&]<int... I>(std::integer_sequence<int, I...>) HWY_ATTR { (sink(best_[I], v), ...); }
      (std::make_integer_sequence<int, K>{});
    } else {
      if (hn::AllFalse(d, hn::Lt(v, best_[k_ - 1]))) return;
      for (int i = 0; i < k_; ++i) sink(best_[i], v);
    }
  }
  V largest() const { return best_[size() - 1]; }

 private:
  /// Keeps the smaller of the two; the larger goes on to the next place.
  HWY_INLINE static void sink(V& place, V& v) {
    const V low = hn::Min(place, v);
    v = hn::Max(place, v), place = low;
  }
  HWY_INLINE int size() const { return K ? K : k_; }
  int k_;
  V best_[K ? K : 64];
};

/// Writes map(i) for i in [0, n): the walk of the Feistel network, a vector of rows at a time.
inline void write_map(const SurrogateMap& map, std::int64_t n, std::uint32_t* to) {
  const hn::ScalableTag<std::uint32_t> d;
  const auto lanes = std::int64_t(hn::Lanes(d));
  if (map.observed || map.type == SurrogateType::circular || map.length > 1) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = map(std::uint32_t(i));
    return;
  }
  const Permutation& p = map.permutation;
  const auto mix = [&](auto v, std::uint32_t key) {
    v = hn::Mul(hn::Xor(v, hn::Set(d, key)), hn::Set(d, 0x9E3779B1u));
    v = hn::Mul(hn::Xor(v, hn::ShiftRight<15>(v)), hn::Set(d, 0x85EBCA77u));
    return hn::Xor(v, hn::ShiftRight<13>(v));
  };
  const auto size = hn::Set(d, p.n), low = hn::Set(d, (1u << p.right_bits) - 1);
  for (std::int64_t i = 0; i < n; i += lanes) {
    auto v = hn::Min(hn::Iota(d, std::uint32_t(i)), hn::Set(d, p.n - 1));
    auto out = hn::FirstN(d, std::size_t(lanes));
    do {
      auto left = hn::ShiftRightSame(v, int(p.right_bits)), right = hn::And(v, low);
      for (int r = 0; r < Permutation::rounds; r += 2) {
        left = hn::Xor(left, hn::ShiftRightSame(mix(right, p.key[r]), int(32 - p.left_bits)));
        right = hn::Xor(right, hn::ShiftRightSame(mix(left, p.key[r + 1]), int(32 - p.right_bits)));
      }
      v = hn::IfThenElse(out, hn::Or(hn::ShiftLeftSame(left, int(p.right_bits)), right), v);
      out = hn::And(out, hn::Not(hn::Lt(v, size)));
    } while (!hn::AllFalse(d, out));
    if (i + lanes <= n)
      hn::StoreU(v, d, to + i);
    else
      for (std::int64_t j = i; j < n; ++j) to[j] = hn::ExtractLane(v, std::size_t(j - i));
  }
}

/// The points with distance below `radius` from point i in the given columns, in key order.
template <class T>
std::int64_t write_candidates(const Shared<T>& s, int first_column, int end_column, std::int64_t i, T radius,
                              typename Bench<T>::Entry* to) {
  const hn::ScalableTag<T> d;
  const auto lanes = std::int64_t(hn::Lanes(d));
  const auto range = s.key.within(i, radius);
  HWY_ALIGN T far[hn::MaxLanes(d)];
  std::int64_t found = 0;
  for (std::int64_t j = range.first; j < range.last; j += lanes) {
    auto v = hn::Zero(d);
    for (int c = first_column; c < end_column; ++c) {
      const T* column = s.yz + c * s.padded;
      v = hn::Max(v, hn::Abs(hn::Sub(hn::LoadU(d, column + j), hn::Set(d, column[i]))));
    }
    hn::Store(v, d, far);
    const std::int64_t end = std::min(lanes, range.last - j);
    for (std::int64_t l = 0; l < end; ++l)
      to[found] = {far[l], std::uint32_t(j + l)}, found += far[l] < radius;
  }
  return found;
}

/// The possible neighbours of point i nearer than `radius` in (y, z), the Theiler window left out.
template <class T>
typename Bench<T>::Entry* write_neighbours(const Problem<T>& p, const Shared<T>& s, const Bench<T>& w,
                                           std::int64_t i, T radius) {
  const std::int64_t found = write_candidates(s, 0, p.dy + p.dz, i, radius, w.candidate);
  return std::remove_if(w.candidate, w.candidate + found, [&](const auto& e) {
    return p.theiler ? p.excluded(s.key.row[i], s.key.row[e.point]) : e.point == i;
  });
}

/// The neighbour list of point i in (y, z): the `length` nearest points outside the Theiler window,
/// ascending. `radius` is a guess of how far they reach, and is improved. Returns the number of entries.
template <class T>
std::int64_t write_list(const Problem<T>& p, const Shared<T>& s, const Bench<T>& w, std::int64_t i, T& radius,
                        T* distance, std::uint32_t* neighbour) {
  for (;; radius *= T(1.4)) {
    const auto end = write_neighbours(p, s, w, i, radius);
    const std::int64_t take = std::min<std::int64_t>(end - w.candidate, s.length);
    if (take < s.length && radius < std::numeric_limits<T>::max()) continue;
    const auto nearer = [](const auto& a, const auto& b) { return a.distance < b.distance; };
    std::nth_element(w.candidate, w.candidate + take, end, nearer);
    std::sort(w.candidate, w.candidate + take, nearer);
    for (std::int64_t c = 0; c < take; ++c)
      distance[c] = w.candidate[c].distance, neighbour[c] = w.candidate[c].point;
    if (take) radius = std::max(distance[take - 1] * T(1.1), std::numeric_limits<T>::min());
    return take;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kolmo::knn
HWY_AFTER_NAMESPACE();
#endif
