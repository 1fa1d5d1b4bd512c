// foreach_target.h includes this file once per instruction set, so it has no ordinary include guard.
#if defined(KOLMO_KNN_LANES_WALK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KOLMO_KNN_LANES_WALK_INL
#undef KOLMO_KNN_LANES_WALK_INL
#else
#define KOLMO_KNN_LANES_WALK_INL
#endif

#include <hwy/highway.h>

#include <bit>

#include "kolmo/knn/lanes-inl.hpp"
#include "kolmo/knn/lanes.hpp"

HWY_BEFORE_NAMESPACE();
namespace kolmo::knn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using PackTag = hn::CappedTag<T, pack>;

/// Computes |x_j - x_i| in every lane of part v of a pack. One: x has one column.
template <bool One, class T, class D>
HWY_INLINE hn::Vec<D> x_distance(D d, const KsgProblem<T>& p, const T* const* x, const hn::Vec<D>* xi,
                                 std::int64_t j) {
  auto far = hn::Abs(hn::Sub(hn::Load(d, x[0] + j * pack), xi[0]));
  if constexpr (!One)
    for (int c = 1; c < p.dx; ++c) far = hn::Max(far, hn::Abs(hn::Sub(hn::Load(d, x[c] + j * pack), xi[c])));
  return far;
}

/// Holds, for each lane, the distance to the k-th neighbour and the number of nearer points in (y, z).
template <class D>
struct Reach {
  hn::Vec<D> radius;
  hn::Vec<hn::RebindToSigned<D>> n_yz;
};

/// Computes this from the first `found` candidates, which must include every point that may be among the k
/// nearest.
template <int K, class T, class D, class FarX>
HWY_NOINLINE Reach<D> among_candidates(D d, const KsgProblem<T>& p, const Bench<T>& w, const FarX& far_x,
                                       std::int64_t found) {
  const hn::RebindToSigned<D> di;
  Smallest<K, D> best(d, int(p.k));
  for (std::int64_t c = 0; c < found; ++c)
    best.add(d, hn::Max(far_x(w.candidate[c]), hn::Set(d, w.candidate_distance[c])));
  Reach<D> r{best.largest(), hn::Zero(di)};
  for (std::int64_t c = 0; c < found; ++c) {
    const auto nearer = hn::Lt(hn::Set(d, w.candidate_distance[c]), r.radius);
    r.n_yz = hn::Sub(r.n_yz, hn::VecFromMask(di, hn::RebindMask(di, nearer)));
  }
  return r;
}

/// Writes the points at a distance of at most `bound` from point i in (y, z); returns their number.
template <class T>
std::int64_t write_up_to(const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, std::int64_t i,
                         T bound) {
  return write_neighbours(p, s, w, i, std::nextafter(bound, std::numeric_limits<T>::infinity()));
}

/// Walks the list of point i until no lane can find a nearer point. far_x(j) is |x_j - x_i| in every lane.
template <int K, class T, class D, class FarX>
HWY_INLINE Reach<D> walk(D d, const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w,
                         const FarX& far_x, std::int64_t i, std::int64_t listed) {
  const hn::RebindToSigned<D> di;
  const T* distance = s.distance + listed * s.length;
  const std::uint32_t* neighbour = s.neighbour + listed * s.length;
  const std::int64_t length = s.listed[listed];
  const auto far = [&](std::int64_t at)
                       HWY_ATTR { return hn::Max(far_x(neighbour[at]), hn::Set(d, distance[at])); };

  Smallest<K, D> best(d, int(p.k));
  bool exhausted = true;
  std::int64_t at = 0;
  while (at < length && exhausted) {
    if (at + 8 <= length) {
      best.add(d, far(at), far(at + 1), far(at + 2), far(at + 3));
      best.add(d, far(at + 4), far(at + 5), far(at + 6), far(at + 7));
      at += 8;
    } else {
      best.add(d, far(at++));
    }
    exhausted = !hn::AllTrue(d, hn::Le(best.largest(), hn::Set(d, distance[at - 1])));
  }
  if (exhausted) {
    const T bound = hn::GetLane(hn::MaxOfLanes(d, best.largest()));
    return among_candidates<K>(d, p, w, far_x, write_up_to(p, s, w, i, bound));
  }

  // n_yz is found by bisection: the distance at which the walk stopped is at least every lane's radius.
  using I = hn::TFromD<decltype(di)>;
  Reach<D> r{best.largest(), hn::Zero(di)};
  const auto last = hn::Set(di, I(at - 1)), one = hn::Set(di, I(1));
  for (auto step = I(std::bit_floor(std::uint64_t(at))); step > 0; step /= 2) {
    const auto next = hn::Add(r.n_yz, hn::Set(di, step));
    const auto v = hn::GatherIndex(d, distance, hn::Min(hn::Sub(next, one), last));
    r.n_yz = hn::IfThenElse(hn::RebindMask(di, hn::Lt(v, r.radius)), next, r.n_yz);
  }
  return r;
}

/// Computes the radii and counts of one pack over the points [begin, end) of a tile; `slice` is the first
/// point with lists. One: x has one column.
template <int K, bool One, class T>
void walk_columns(const KsgProblem<T>& p, const Shared<T>& s, const Bench<T>& w, int of_pack,
                  std::int64_t begin, std::int64_t end, std::int64_t slice) {
  const PackTag<T> d;
  const hn::RebindToSigned<PackTag<T>> di;
  using I = hn::TFromD<decltype(di)>;
  const int step = int(hn::Lanes(d));
  for (int v = 0; v < pack; v += step) {
    const T* x[16];
    hn::Vec<PackTag<T>> xi[16];
    for (int c = 0; c < p.dx; ++c) x[c] = w.column(of_pack, c, p, s) + v;
    const auto far_x = [&](std::int64_t j) HWY_ATTR { return x_distance<One>(d, p, x, xi, j); };
    for (std::int64_t i = begin; i < end; ++i) {
      for (int c = 0; c < p.dx; ++c) xi[c] = hn::Load(d, x[c] + i * pack);
      const std::int64_t at = (i - begin) * group_lanes + of_pack * pack + v;
      const auto reach = walk<K>(d, p, s, w, far_x, i, i - slice);
      hn::Store(reach.radius, d, w.radius + at);
      HWY_ALIGN I lanes[pack];
      hn::Store(reach.n_yz, di, lanes);
      for (int l = 0; l < step; ++l) w.n_yz[at + l] = std::uint32_t(lanes[l]);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kolmo::knn
HWY_AFTER_NAMESPACE();
#endif
