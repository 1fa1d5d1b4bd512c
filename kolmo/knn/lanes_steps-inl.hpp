// foreach_target.h includes this file once per instruction set, so it has no ordinary include guard.
#if defined(KOLMO_KNN_LANES_STEPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KOLMO_KNN_LANES_STEPS_INL
#undef KOLMO_KNN_LANES_STEPS_INL
#else
#define KOLMO_KNN_LANES_STEPS_INL
#endif

#include <hwy/highway.h>

#include "kolmo/knn/interval-inl.hpp"
#include "kolmo/knn/lanes.hpp"
#include "kolmo/knn/lanes_rank-inl.hpp"
#include "kolmo/knn/lanes_walk-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace kolmo::knn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Here x and the distances of the lists are rounded to whole steps of one width, 16 bits each. Let q be the
// k-th smallest distance in steps. It differs from the exact one by less than 1.02 steps: every distance
// does, and order statistics move no further than the values they order. Entries within 2 of q are measured
// exactly, nearer ones only counted. Cases that steps cannot decide (a neighbourhood that contains values
// outside the range of the steps, a list that is too short, too many entries near q) are walked exactly.

inline constexpr std::int16_t yz_block = 8;  // entries

/// The reasons why steps cannot decide the radius of a lane.
inline constexpr std::int16_t ran_out = 1, out_of_range = 2;

/// The results of walk_near() for each lane.
struct NearLanes {
  HWY_ALIGN std::int16_t nearer[group_lanes];  // entries certainly nearer than the k-th neighbour
  HWY_ALIGN std::int16_t near[group_lanes];    // entries near q
  HWY_ALIGN std::int16_t last[group_lanes], before[group_lanes];  // the last two of the entries near q
  HWY_ALIGN std::int16_t n_yz[group_lanes];  // a lower bound of the number of nearer points in (y, z)
  HWY_ALIGN std::int16_t q[group_lanes], doubtful[group_lanes];
};

/// Walks the list of point i in lanes [v, v + Lanes(d)). Finds how many of the k nearest lie before those
/// near q, which entries are near q, and how many blocks of entries of (y, z) are nearer. Returns how far it
/// walked.
template <int K, class T, class D>
HWY_INLINE std::int64_t walk_near(D d, const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, int v,
                                  int used, std::int64_t i, std::int64_t listed, NearLanes& lanes) {
  const hn::RebindToUnsigned<D> du;
  const auto width = std::int64_t(hn::Lanes(d));
  const std::int16_t* far = s.far + listed * s.length;
  const std::uint32_t* neighbour = s.neighbour + listed * s.length;
  const std::int64_t length = s.listed[listed];
  const auto xi = hn::Load(d, w.steps + i * group_lanes + v);
  const auto entry = [&](std::int64_t at) HWY_ATTR __attribute__((always_inline)) {
    const auto x = hn::Load(d, w.steps + std::int64_t(neighbour[at]) * group_lanes + v);
    const auto e = hn::Max(hn::Abs(hn::Sub(x, xi)), hn::Set(d, far[at]));
    hn::Store(e, d, w.entry + at * width);
    return e;
  };
  const auto two = hn::Set(d, 2);
  const auto in_use = hn::FirstN(d, std::size_t(std::min<int>(used - v, int(width))));
  Smallest<K, D> best(d, int(p.k));
  std::int64_t at = 0;
  for (bool more = true; at < length && more;) {
    if (at + 8 <= length) {
      best.add(d, entry(at), entry(at + 1), entry(at + 2), entry(at + 3));
      best.add(d, entry(at + 4), entry(at + 5), entry(at + 6), entry(at + 7));
      at += 8;
    } else {
      best.add(d, entry(at++));
    }
    const auto nearer = hn::Lt(hn::Set(d, far[at - 1]), hn::SaturatedAdd(best.largest(), two));
    more = !hn::AllFalse(d, hn::And(in_use, nearer));
  }
  const auto q = best.largest(), below = hn::Sub(q, two), reach = hn::SaturatedAdd(q, hn::Set(d, 3));
  const auto past_range = hn::Or(hn::Lt(hn::SaturatedSub(xi, reach), hn::Load(d, w.least_step + v)),
                                 hn::Lt(hn::Load(d, w.most_step + v), hn::SaturatedAdd(xi, reach)));
  const auto list_ended = hn::Lt(hn::Set(d, at ? far[at - 1] : std::int16_t(0)), hn::SaturatedAdd(q, two));
  const auto untold = hn::Or(past_range, hn::Lt(hn::Set(d, 32760), q));
  const auto why = hn::IfThenElseZero(list_ended, hn::Set(d, ran_out));
  hn::Store(hn::IfThenElse(untold, hn::Set(d, out_of_range), why), d, lanes.doubtful + v);
  hn::Store(best.count_below(d, below), d, lanes.nearer + v);
  hn::Store(q, d, lanes.q + v);

  auto near = hn::Zero(d), last = near, before = near, number = near;
  const auto band = hn::Set(du, 5);
  const auto one = hn::Set(d, 1);
  for (std::int64_t e = 0; e < at; ++e, number = hn::Add(number, one)) {
    const auto past = hn::BitCast(du, hn::Sub(hn::Load(d, w.entry + e * width), below));
    const auto is_near = hn::RebindMask(d, hn::Lt(past, band));
    before = hn::IfThenElse(is_near, last, before), last = hn::IfThenElse(is_near, number, last);
    near = hn::IfThenElse(is_near, hn::Add(near, one), near);
  }
  auto n_yz = hn::Zero(d);
  const auto block = hn::Set(d, yz_block);
  for (std::int64_t e = yz_block - 1; e < at; e += yz_block)
    n_yz = hn::IfThenElse(hn::Lt(hn::Set(d, far[e]), below), hn::Add(n_yz, block), n_yz);
  hn::Store(n_yz, d, lanes.n_yz + v);
  hn::Store(near, d, lanes.near + v);
  hn::Store(last, d, lanes.last + v);
  hn::Store(before, d, lanes.before + v);
  return at;
}

/// Returns the m-th smallest (from 0) of the first `n` values, and reorders them.
template <class T>
HWY_INLINE T smallest(T* value, int n, int m) {
  for (int a = 1; a < n; ++a)
    for (int b = a; b > 0 && value[b] < value[b - 1]; --b) std::swap(value[b], value[b - 1]);
  return value[m];
}

/// Computes the radii and counts of a group, point by point.
template <int K, class T, class R>
class StepWalk {
 public:
  StepWalk(const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, std::int64_t group, int used)
      : p_(p), s_(s), w_(w), used_(used * pack) {
    for (int l = 0; l < group_lanes; ++l) {
      const std::int64_t b = s.alternative(p, group, l);
      cells_[l] = &s.x_cells[b], value_[l] = cells_[l]->value, rank_[l] = w.template ranks<R>(l, s);
      w.least_step[l] = s.x_range[b].least, w.most_step[l] = s.x_range[b].most;
    }
  }

  /// Computes the points [begin, end) of a tile; `slice` is the first point with lists. Returns for how many
  /// estimates the radius needed an exact walk.
  std::int64_t operator()(std::int64_t begin, std::int64_t end, std::int64_t slice) {
    const hn::CappedTag<std::int16_t, group_lanes> d;
    const int width = int(hn::Lanes(d));
    std::int64_t exactly = 0, at = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      if (i + 1 < end) fetch_list(i + 1 - slice, at);
      i_ = i, listed_ = i - slice, to_ = (i - begin) * group_lanes, doubtful_ = 0;
      for (int l = 0; l < used_; ++l) xi_[l] = value_[l][rank_[l][i]];
      for (int v = 0; v < used_; v += width) {
        at = walk_near<K>(d, p_, s_, w_, v, used_, i, listed_, lanes_);
        measure_near(v, std::min(width, used_ - v), width, at);
      }
      if (doubtful_) walk_exactly();
      exactly += doubtful_;
    }
    return exactly;
  }

 private:
  /// Prefetches the part of a list that will probably be read: as much as was read of the previous list.
  HWY_INLINE void fetch_list(std::int64_t listed, std::int64_t entries) const {
    constexpr std::int64_t line = 64;
    const std::int64_t from = listed * s_.length;
    for (std::int64_t e = 0; e < entries; e += line / std::int64_t(sizeof(T)))
      __builtin_prefetch(s_.distance + from + e);
    for (std::int64_t e = 0; e < entries; e += line / 4) __builtin_prefetch(s_.neighbour + from + e);
    for (std::int64_t e = 0; e < entries; e += line / 2) __builtin_prefetch(s_.far + from + e);
  }
  T x_distance(std::int64_t j, int l) const { return std::abs(value_[l][rank_[l][j]] - xi_[l]); }
  T distance(std::int64_t e, int l) const {
    const std::int64_t at = listed_ * s_.length + e;
    return std::max(x_distance(s_.neighbour[at], l), s_.distance[at]);
  }

  /// Computes the radii and counts of lanes [v, v + lanes), whose lists were walked up to `at`. Nearly always
  /// a lane has one entry near q: all lanes are computed as if they had, without a branch, and the exceptions
  /// are corrected afterwards.
  void measure_near(int v, int lanes, int width, std::int64_t at) {
    int other[group_lanes], others = 0;
    for (int l = v; l < v + lanes; ++l) {
      w_.radius[to_ + l] = distance(lanes_.last[l], l);
      other[others] = l;
      others += lanes_.near[l] != 1 || lanes_.doubtful[l];
    }
    for (int m = 0; m < others; ++m)
      if (const int l = other[m]; lanes_.doubtful[l] || lanes_.near[l] > limit)
        doubt_[doubtful_++] = l;
      else
        w_.radius[to_ + l] = nearest(l, l - v, width, at);
    const hn::CappedTag<T, yz_block> d;
    for (int l = v; l < v + lanes; ++l) {
      std::int64_t n = lanes_.n_yz[l], not_nearer = -1;
      const auto radius = hn::Set(d, w_.radius[to_ + l]);
      for (const T* listed = s_.distance + listed_ * s_.length; n < at; n += std::int64_t(hn::Lanes(d))) {
        not_nearer = hn::FindFirstTrue(d, hn::Le(radius, hn::LoadU(d, listed + n)));
        if (not_nearer >= 0) break;
      }
      w_.n_yz[to_ + l] = std::uint32_t(n + not_nearer);
    }
  }

  /// Computes the radius of a lane with several entries near q.
  T nearest(int l, int in_vector, int width, std::int64_t at) const {
    const int found = lanes_.near[l], nth = int(p_.k) - 1 - lanes_.nearer[l];
    if (found == 2) {
      const T a = distance(lanes_.last[l], l), b = distance(lanes_.before[l], l);
      return nth ? std::max(a, b) : std::min(a, b);
    }
    T near[limit];
    int n = 0;
    for (std::int64_t e = 0; e < at; ++e)
      if (std::abs(w_.entry[e * width + in_vector] - lanes_.q[l]) <= 2) near[n++] = distance(e, l);
    return smallest(near, found, nth);
  }

  /// Computes the lanes that steps could not decide.
  HWY_NOINLINE void walk_exactly() {
    const hn::CappedTag<T, 1> d;
    // Lists are too short where x is sparse, but there few points lie within the radius in x: these are
    // searched. For the other lanes one search in (y, z) serves all. It comes before the walks, which may
    // overwrite the candidates.
    int left = 0;
    T furthest = -1;
    for (int m = 0; m < doubtful_; ++m) {
      const int l = doubt_[m];
      const bool bounded = lanes_.doubtful[l] == ran_out;
      const T bound = T(lanes_.q[l] + 2) * s_.step;
      if (bounded && !p_.theiler && search_in_x(l, bound)) continue;
      if (bounded) furthest = std::max(furthest, bound);
      doubt_[left++] = l;
    }
    const std::int64_t found = furthest < 0 ? 0 : write_up_to(p_, s_, w_, i_, furthest);
    for (const bool shared : {true, false}) {
      for (int m = 0; m < left; ++m) {
        const int l = doubt_[m];
        if ((lanes_.doubtful[l] == ran_out) != shared) continue;
        const auto far_x = [&](std::int64_t j) HWY_ATTR { return hn::Set(d, x_distance(j, l)); };
        const auto reach = shared ? among_candidates<K>(d, p_, w_, far_x, found)
                                  : walk<K>(d, p_, s_, w_, far_x, i_, listed_);
        w_.radius[to_ + l] = hn::GetLane(reach.radius);
        w_.n_yz[to_ + l] = std::uint32_t(hn::GetLane(reach.n_yz));
      }
    }
  }

  /// Searches the points at most `bound` away in x, which must include the k nearest. Returns false if there
  /// are too many.
  bool search_in_x(int l, T bound) {
    const T above = std::nextafter(bound, std::numeric_limits<T>::infinity());
    const Interval in = interval(*cells_[l], xi_[l], above);
    if (in.size * 8 > s_.n) return false;
    const R* place = w_.template places<R>(l, s_);
    T best[65];  // the point itself is among them
    std::fill_n(best, p_.k + 1, above);
    const T *x = value_[l], *y = s_.yz;
    for (std::int64_t r = in.first; r < in.first + in.size; ++r) {
      const std::int64_t j = place[r];
      T far = std::max(std::abs(x[r] - xi_[l]), std::abs(y[j] - y[i_]));
      for (const T* c = y + s_.padded; c < y + (p_.dy + p_.dz) * s_.padded; c += s_.padded)
        far = std::max(far, std::abs(c[j] - c[i_]));
      if (!(far < best[p_.k])) continue;
      std::int64_t at = p_.k;
      for (; at > 0 && far < best[at - 1]; --at) best[at] = best[at - 1];
      best[at] = far;
    }
    w_.radius[to_ + l] = best[p_.k];
    w_.n_yz[to_ + l] = std::uint32_t(count_nearer(p_, s_, i_, best[p_.k]));
    return true;
  }

  static constexpr int limit = 8;  // how many entries near q are measured
  const KsgProblem<T>& p_;
  const Shared<T>& s_;
  const Bench<T>& w_;
  const int used_;
  const T* value_[group_lanes];  // ascending values of x of the lane's alternative
  const R* rank_[group_lanes];   // rank of each point among them
  const Cells<T>* cells_[group_lanes];
  NearLanes lanes_;
  std::int64_t i_, listed_, to_;
  T xi_[group_lanes];
  int doubt_[group_lanes], doubtful_;
};

}  // namespace HWY_NAMESPACE
}  // namespace kolmo::knn
HWY_AFTER_NAMESPACE();
#endif
