// foreach_target.h includes this file once per instruction set, so it has no ordinary include guard.
#if defined(KOLMO_KNN_INTERVAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef KOLMO_KNN_INTERVAL_INL
#undef KOLMO_KNN_INTERVAL_INL
#else
#define KOLMO_KNN_INTERVAL_INL
#endif

#include <hwy/highway.h>

#include "kolmo/knn/sorted.hpp"

HWY_BEFORE_NAMESPACE();
namespace kolmo::knn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Interval {
  std::int64_t first, size;
};
/// Finds the positions of an ascending, padded array with |value - q| < radius. The search goes up from two
/// positions known to lie at or before the two ends, and evaluates this condition itself.
template <class T>
HWY_INLINE Interval interval_from(const T* value, std::int64_t first, std::int64_t end, T q, T radius) {
  const hn::CappedTag<T, Cells<T>::padding> d;
  const auto step = std::int64_t(hn::Lanes(d));
  const auto center = hn::Set(d, q), reach = hn::Set(d, radius);
  for (std::int64_t outside = step; outside == step; first += outside)
    outside =
        step - std::int64_t(hn::CountTrue(d, hn::Lt(hn::Sub(center, hn::LoadU(d, value + first)), reach)));
  for (std::int64_t inside = step; inside == step; end += inside)
    inside = std::int64_t(hn::CountTrue(d, hn::Lt(hn::Sub(hn::LoadU(d, value + end), center), reach)));
  return {first, end > first ? end - first : 0};
}

/// Finds the same positions; the cells give the starting points. At least a whole cell lies between the start
/// of a search and its result.
template <class T>
HWY_INLINE Interval interval(const Cells<T>& c, T q, T radius) {
  return interval_from(c.value, c.start[std::max(0, c.cell(q - radius) - 1)],
                       c.start[std::max(0, c.cell(q + radius) - 1)], q, radius);
}

}  // namespace HWY_NAMESPACE
}  // namespace kolmo::knn
HWY_AFTER_NAMESPACE();
#endif
