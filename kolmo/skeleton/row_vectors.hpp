// Loops over a row in CPU vectors, for sources that are compiled once per instruction set. Such a source
// includes it after <hwy/foreach_target.h>. A step f(i, count) processes the elements from i on; `count` is
// Whole() for a full vector, and First{n} for the first n elements.
#if defined(KOLMO_SKELETON_ROW_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef KOLMO_SKELETON_ROW_VECTORS
#undef KOLMO_SKELETON_ROW_VECTORS
#else
#define KOLMO_SKELETON_ROW_VECTORS
#endif

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

// clang-format off
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kolmo {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Whole {};
struct First {
  std::int64_t n;
};

/// Loads elements of the tag's type, or floats as doubles. Lanes beyond `count` become 0.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* x, Whole) {
  return hn::LoadU(d, x);
}
template <class D>
requires std::is_same_v < hn::TFromD<D>,
double > HWY_INLINE hn::Vec<D> load(D d, const float* x, Whole) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x));
}
template <class D, class T>
HWY_INLINE hn::Vec<D> load(D d, const T* x, First count) {
  HWY_ALIGN T rest[hn::MaxLanes(D())] = {};
  std::copy_n(x, count.n, rest);
  return load(d, rest, Whole());
}
template <class D>
HWY_INLINE void store(D d, hn::Vec<D> v, hn::TFromD<D>* y, Whole) {
  hn::StoreU(v, d, y);
}
template <class D>
requires std::is_same_v < hn::TFromD<D>,
double > HWY_INLINE void store(D, hn::Vec<D> v, float* y, Whole) {
  const hn::Rebind<float, D> f;
  hn::StoreU(hn::DemoteTo(f, v), f, y);
}
template <class D, class T>
HWY_INLINE void store(D d, hn::Vec<D> v, T* y, First count) {
  HWY_ALIGN T rest[hn::MaxLanes(D())];
  store(d, v, rest, Whole());
  std::copy_n(rest, count.n, y);
}

template <class D, class F>
HWY_INLINE void each_vector(D d, std::int64_t n, const F& f) {
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(i, Whole());
  if (i < n) f(i, First{n - i});
}

/// Four independent accumulators, which hide the latency of an operation. They are members, since an array
/// would be kept in memory.
template <class V>
struct SideBySide {
  V a, b, c, d;
};
inline constexpr std::int64_t side_by_side = 4;

/// Sum of the vectors f(i, count). Blocks of 256 terms are summed with at most 35 roundings each; their sums
/// are added in double.
template <class D, class F>
HWY_INLINE double sum(D d, std::int64_t n, const F& f) {
  constexpr std::int64_t block = 256;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d)), vectors = n - n % lanes;
  hn::Vec<D> totals = hn::Zero(d);
  double total = 0;
  const auto keep = [&](hn::Vec<D> v) HWY_ATTR {
    if constexpr (std::is_same_v<hn::TFromD<D>, double>)
      totals = hn::Add(totals, v);
    else
      total += double(hn::GetLane(hn::SumOfLanes(d, v)));
  };
  for (std::int64_t i = 0; i < vectors;) {
    const std::int64_t end = std::min(vectors, i + block);
    SideBySide<hn::Vec<D>> s{hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (; i + side_by_side * lanes <= end; i += side_by_side * lanes) {
      s.a = hn::Add(s.a, f(i, Whole())), s.b = hn::Add(s.b, f(i + lanes, Whole()));
      s.c = hn::Add(s.c, f(i + 2 * lanes, Whole())), s.d = hn::Add(s.d, f(i + 3 * lanes, Whole()));
    }
    for (; i < end; i += lanes) s.a = hn::Add(s.a, f(i, Whole()));
    keep(hn::Add(hn::Add(s.a, s.b), hn::Add(s.c, s.d)));
  }
  if (vectors < n)
    keep(hn::IfThenElseZero(hn::FirstN(d, std::size_t(n - vectors)), f(vectors, First{n - vectors})));
  return total + double(hn::GetLane(hn::SumOfLanes(d, totals)));
}

/// The largest element of x, in every lane; -inf if n is 0.
template <class D, class T>
HWY_INLINE hn::Vec<D> largest(D d, const T* x, std::int64_t n) {
  const auto least = hn::Set(d, -std::numeric_limits<hn::TFromD<D>>::infinity());
  const std::int64_t lanes = std::int64_t(hn::Lanes(d)), vectors = n - n % lanes;
  SideBySide<hn::Vec<D>> top{least, least, least, least};
  std::int64_t i = 0;
  for (; i + side_by_side * lanes <= vectors; i += side_by_side * lanes) {
    top.a = hn::Max(top.a, load(d, x + i, Whole())), top.b = hn::Max(top.b, load(d, x + i + lanes, Whole()));
    top.c = hn::Max(top.c, load(d, x + i + 2 * lanes, Whole()));
    top.d = hn::Max(top.d, load(d, x + i + 3 * lanes, Whole()));
  }
  for (; i < vectors; i += lanes) top.a = hn::Max(top.a, load(d, x + i, Whole()));
  if (i < n)
    top.b = hn::Max(top.b,
                    hn::IfThenElse(hn::FirstN(d, std::size_t(n - i)), load(d, x + i, First{n - i}), least));
  return hn::MaxOfLanes(d, hn::Max(hn::Max(top.a, top.b), hn::Max(top.c, top.d)));
}

}  // namespace HWY_NAMESPACE
}  // namespace kolmo
HWY_AFTER_NAMESPACE();
#endif
