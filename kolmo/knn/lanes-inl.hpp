// foreach_target.h includes this file once per instruction set, so it has no ordinary include guard.
#if defined(KOLMO_KNN_LANES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KOLMO_KNN_LANES_INL
#undef KOLMO_KNN_LANES_INL
#else
#define KOLMO_KNN_LANES_INL
#endif

#include <hwy/highway.h>

#include <numeric>
#include <utility>

#include "kolmo/knn/lanes.hpp"

HWY_BEFORE_NAMESPACE();
namespace kolmo::knn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Keeps the k smallest values added in each lane, ascending. K is k, or 0 if k is known at run time only.
template <int K, class D>
class Smallest {
 public:
  using V = hn::Vec<D>;
  Smallest(D d, int k) : k_(k) {
    using Limits = std::numeric_limits<hn::TFromD<D>>;
    for (int i = 0; i < size(); ++i)
      best_[i] = hn::Set(d, Limits::has_infinity ? Limits::infinity() : Limits::max());
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
  /// Adds four values. For k = 4 they are sorted, and then the lower halves of two sorted groups of four are
  /// merged. That takes fewer minima and maxima, which limit the speed of the walk.
  HWY_INLINE void add(D d, V a, V b, V c, V e) {
    if constexpr (K == 4) {
      sink(a, b), sink(c, e), sink(a, c), sink(b, e), sink(b, c);
      best_[0] = hn::Min(best_[0], e), best_[1] = hn::Min(best_[1], c);
      best_[2] = hn::Min(best_[2], b), best_[3] = hn::Min(best_[3], a);
      sink(best_[0], best_[2]), sink(best_[1], best_[3]), sink(best_[0], best_[1]), sink(best_[2], best_[3]);
    } else {
      add(d, a), add(d, b), add(d, c), add(d, e);
    }
  }
  V largest() const { return best_[size() - 1]; }
  /// The number of kept values smaller than v.
  V count_below(D d, V v) const {
    auto n = hn::Zero(d);
    for (int i = 0; i < size(); ++i) n = hn::Sub(n, hn::VecFromMask(d, hn::Lt(best_[i], v)));
    return n;
  }

 private:
  /// Keeps the smaller of the two in `place`; the larger goes on to the next place.
  HWY_INLINE static void sink(V& place, V& v) {
    const V low = hn::Min(place, v);
    v = hn::Max(place, v), place = low;
  }
  HWY_INLINE int size() const { return K ? K : k_; }
  int k_;
  V best_[K ? K : 64];
};

/// Writes map(i) for i in [0, n). A permutation applies its network again until the result is in range (cycle
/// walking). One pass over the whole domain, a vector at a time, is stored in `once`; the walk of each row
/// then reads that table.
inline void write_map(const SurrogateMap& map, std::int64_t n, std::uint32_t* once, std::uint32_t* walks,
                      std::uint32_t* to) {
  const hn::ScalableTag<std::uint32_t> d;
  if (map.in_order()) {
    std::iota(to, to + (n - map.shift), map.shift);
    std::iota(to + (n - map.shift), to + n, 0u);
    return;
  }
  if (map.length > 1) {
    for (std::uint32_t i = 0; i < n;) {
      std::uint32_t from = map(i);
      for (const std::uint32_t end = map.run_end(i); i < end; ++i, ++from) {
        if (from == n) from = 0;
        to[i] = from;
      }
    }
    return;
  }
  const Permutation& p = map.permutation;
  const auto mix = [&](auto v, std::uint32_t key) {
    v = hn::Mul(hn::Xor(v, hn::Set(d, key)), hn::Set(d, 0x9E3779B1u));
    v = hn::Mul(hn::Xor(v, hn::ShiftRight<15>(v)), hn::Set(d, 0x85EBCA77u));
    return hn::Xor(v, hn::ShiftRight<13>(v));
  };
  const auto low = hn::Set(d, (1u << p.right_bits) - 1);
  const std::uint32_t domain = 1u << (p.left_bits + p.right_bits);
  for (std::uint32_t i = 0; i < domain; i += std::uint32_t(hn::Lanes(d))) {
    const auto v = hn::Iota(d, i);
    auto left = hn::ShiftRightSame(v, int(p.right_bits)), right = hn::And(v, low);
    for (int r = 0; r < Permutation::rounds; r += 2) {
      left = hn::Xor(left, hn::ShiftRightSame(mix(right, p.key[r]), int(32 - p.left_bits)));
      right = hn::Xor(right, hn::ShiftRightSame(mix(left, p.key[r + 1]), int(32 - p.right_bits)));
    }
    hn::StoreU(hn::Or(hn::ShiftLeftSame(left, int(p.right_bits)), right), d, once + i);
  }
  std::int64_t walking = 0;
  const auto walk_on = [&](std::uint32_t i, std::uint32_t v) {  // branch-free: branches would be mispredicted
    to[i] = v, walks[walking] = i, walking += v >= p.n;
  };
  for (std::int64_t i = 0; i < n; ++i) walk_on(std::uint32_t(i), once[i]);
  while (const std::int64_t last = std::exchange(walking, 0))
    for (std::int64_t w = 0; w < last; ++w) walk_on(walks[w], once[to[walks[w]]]);
}

/// Writes the points whose distance from point i in the given columns is below `radius`, in key order;
/// returns their number.
template <class T>
std::int64_t write_candidates(const Shared<T>& s, const Bench<T>& w, int first_column, int end_column,
                              std::int64_t i, T radius) {
  const hn::ScalableTag<T> d;
  HWY_ALIGN T buffer[hn::MaxLanes(d)];
  const auto lanes = std::int64_t(hn::Lanes(d));
  const auto range = s.key.within(i, radius);
  std::int64_t found = 0;
  for (std::int64_t j = range.first; j < range.last; j += lanes) {
    auto far = hn::Zero(d);
    for (int c = first_column; c < end_column; ++c) {
      const T* column = s.yz + c * s.padded;
      far = hn::Max(far, hn::Abs(hn::Sub(hn::LoadU(d, column + j), hn::Set(d, column[i]))));
    }
    hn::Store(far, d, buffer);
    const std::int64_t end = std::min(lanes, range.last - j);
    for (std::int64_t l = 0; l < end; ++l) {  // branch-free
      w.candidate_distance[found] = buffer[l], w.candidate[found] = std::uint32_t(j + l);
      found += buffer[l] < radius;
    }
  }
  return found;
}

/// Writes the candidates for neighbours of point i that are nearer than `radius` in (y, z), except those in
/// the Theiler window; returns their number.
template <class T>
std::int64_t write_neighbours(const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, std::int64_t i,
                              T radius) {
  const std::int64_t found = write_candidates(s, w, 0, p.dy + p.dz, i, radius);
  std::int64_t kept = 0;
  for (std::int64_t c = 0; c < found; ++c) {
    const auto j = w.candidate[c];
    w.candidate[kept] = j, w.candidate_distance[kept] = w.candidate_distance[c];
    kept += p.theiler ? !p.excluded(s.key.row[i], s.key.row[j]) : std::int64_t(j) != i;
  }
  return kept;
}

/// Writes the nearest of the first `found` candidates, `take` of them, by ascending distance.
template <class T>
void write_sorted(const Bench<T>& w, std::int64_t found, std::int64_t take, T* distance,
                  std::uint32_t* neighbour) {
  // Sort by distances rounded to float, which keep the order, then correct the few that are equal in float.
  for (std::int64_t c = 0; c < found; ++c) {
    const auto rounded = __builtin_bit_cast(std::uint32_t, float(w.candidate_distance[c]));
    w.order[c] = std::uint64_t(rounded) << 32 | std::uint64_t(c);
  }
  sort(w.order, std::size_t(found));
  for (std::int64_t c = 0; c < found; ++c) {
    const auto from = w.order[c] & 0xffffffff;
    const T far = w.candidate_distance[from];
    if (c >= take && !(far < distance[take - 1])) continue;
    std::int64_t to = std::min(c, take - 1);
    for (; to > 0 && far < distance[to - 1]; --to)
      distance[to] = distance[to - 1], neighbour[to] = neighbour[to - 1];
    distance[to] = far, neighbour[to] = std::uint32_t(w.candidate[from]);
  }
}

/// Writes the neighbour list of point i in (y, z): the `length` nearest points outside the Theiler window, by
/// ascending distance. Returns the number of entries.
template <class T>
std::int64_t write_list(const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, std::int64_t i,
                        T* distance, std::uint32_t* neighbour) {
  T& guess = w.guess[p.dz ? s.y.at[i] * guesses / s.n : 0];  // i ascends in z; one guess per range of y
  for (T radius = guess > 0 ? guess : *w.last_reach;; radius *= T(1.3)) {
    const std::int64_t found = write_neighbours(p, s, w, i, radius);
    const std::int64_t take = std::min(found, s.length);
    if (take < s.length && radius < std::numeric_limits<T>::max()) continue;
    write_sorted(w, found, take, distance, neighbour);
    if (take) guess = *w.last_reach = std::max(distance[take - 1] * T(1.1), std::numeric_limits<T>::min());
    return take;
  }
}

/// Writes the list of point i in z, whose list in (y, z) is written: all points up to the end of that list, or the nearest of them.
template <class T>
void write_z_list(const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, std::int64_t i,
                  std::int64_t at) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const std::int64_t listed = s.listed[at];
  const T radius = listed ? T(1.5) * s.distance[at * s.length + listed - 1] : std::numeric_limits<T>::min();
  T* const distance = s.z_distance + at * s.z_length;
  std::uint32_t* const neighbour = s.z_neighbour + at * s.z_length;
  const std::int64_t found = write_candidates(s, w, p.dy, p.dy + p.dz, i, radius);
  std::int64_t take = std::min(found, s.z_length - 1);
  write_sorted(w, found, take, distance, neighbour);
  if (take == found) distance[take] = found == s.n ? infinity : radius, neighbour[take++] = 0;
  s.z_listed[at] = std::int32_t(take);
}

}  // namespace HWY_NAMESPACE
}  // namespace kolmo::knn
HWY_AFTER_NAMESPACE();
#endif
