// foreach_target.h includes this file once per instruction set, so it has no ordinary include guard.
#if defined(KOLMO_KNN_LANES_RANK_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KOLMO_KNN_LANES_RANK_INL
#undef KOLMO_KNN_LANES_RANK_INL
#else
#define KOLMO_KNN_LANES_RANK_INL
#endif

#include <hwy/highway.h>

#include "kolmo/knn/interval-inl.hpp"
#include "kolmo/knn/lanes.hpp"

HWY_BEFORE_NAMESPACE();
namespace kolmo::knn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Counts the points whose rank and whose place both fall into an interval: tests the members of the shorter
/// interval for the other one. rank[place of a point] is its rank, place[rank] its place.
template <class R>
HWY_INLINE std::int64_t count_in_both(const R* rank, const R* place, Interval in_rank, Interval in_place) {
  const hn::ScalableTag<R> d;
  const auto width = std::int64_t(hn::Lanes(d));
  const bool by_rank = in_rank.size < in_place.size;
  const R* searched = by_rank ? place + in_rank.first : rank + in_place.first;
  const Interval other = by_rank ? in_place : in_rank;
  const auto first = hn::Set(d, R(other.first)), size = hn::Set(d, R(other.size));
  std::size_t found = 0;
  std::int64_t left = by_rank ? in_rank.size : in_place.size;
  for (; left > width; left -= width, searched += width)
    found += hn::CountTrue(d, hn::Lt(hn::Sub(hn::LoadU(d, searched), first), size));
  const auto last =
      hn::And(hn::Lt(hn::Sub(hn::LoadU(d, searched), first), size), hn::FirstN(d, std::size_t(left)));
  return std::int64_t(found + hn::CountTrue(d, last));
}

/// Counts the points other than i that are nearer than `radius` in (y, z).
template <class T>
std::int64_t count_nearer(const KsgProblem<T>& p, const Shared<T>& s, std::int64_t i, T radius) {
  const hn::ScalableTag<T> d;
  const auto lanes = std::int64_t(hn::Lanes(d));
  const int columns = p.dy + p.dz;
  const Interval in_key = interval(s.key_cells, s.key.value[i], radius);
  std::int64_t found = 0;
  if (columns == 1) {
    found = in_key.size;
  } else if (in_plane(p)) {
    found = count_in_both(s.y.at, s.y.row, interval(s.y_cells, s.yz[i], radius), in_key);
  } else {
    for (std::int64_t j = in_key.first, left = in_key.size; left > 0; j += lanes, left -= lanes) {
      auto in = hn::FirstN(d, std::size_t(std::min(lanes, left)));
      for (int c = 0; c < columns; ++c) {
        const T* column = s.yz + c * s.padded;
        const auto far = hn::Abs(hn::Sub(hn::LoadU(d, column + j), hn::Set(d, column[i])));
        in = hn::And(in, hn::Lt(far, hn::Set(d, radius)));
      }
      found += std::int64_t(hn::CountTrue(d, in));
    }
  }
  return found ? found - 1 : 0;
}

}  // namespace HWY_NAMESPACE
}  // namespace kolmo::knn
HWY_AFTER_NAMESPACE();
#endif
