// Compiled once per instruction set; the best supported one is chosen at run time.
#include "kolmo/runtime/cpu/lane_sums.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "kolmo/base/sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/runtime/cpu/lane_sums.cpp"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/cache_control.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kolmo {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, HWY_HAVE_SCALABLE ? 2 : 8>;  // the width is known at compile time
using V = hn::Vec<D>;
constexpr std::int64_t width = hn::MaxLanes(D());

HWY_INLINE V doubles(const double* x) { return hn::LoadU(D(), x); }
HWY_INLINE V doubles(const float* x) { return hn::PromoteTo(D(), hn::LoadU(hn::Rebind<float, D>(), x)); }

template <class T>
struct Values {
  static constexpr int rounds = 4;  // so many rounds over all lanes are added in registers
  static constexpr std::int64_t line = 64 / sizeof(T);
  const T* x;
  V vector(std::int64_t i) const { return doubles(x + i); }
  double operator[](std::int64_t i) const { return double(x[i]); }
};
template <class T>
struct Products {
  static constexpr int rounds = 1;
  const T *x, *y;
  V vector(std::int64_t i) const { return hn::Mul(doubles(x + i), doubles(y + i)); }
  double operator[](std::int64_t i) const { return double(x[i]) * double(y[i]); }
};

/// Adds the upper half of the lanes to the lower half until one lane is left.
template <class E>
HWY_INLINE double folded([[maybe_unused]] E d, hn::Vec<E> v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(E()) > 1) {
    const hn::Half<E> h;
    return folded(h, hn::Add(hn::LowerHalf(h, v), hn::UpperHalf(h, v)));
  }
#endif
  return hn::GetLane(v);
}

/// Sums n terms. Lanes that lane_sum does not have, and terms from n on, are 0 and change nothing.
template <class Terms>
HWY_INLINE double sum_of(std::int64_t n, const Terms& terms) {
  const D d;
  const auto added = [&](V sum, std::int64_t i) HWY_ATTR {
    if (i + width <= n) return hn::Add(sum, terms.vector(i));
    HWY_ALIGN double rest[width] = {};
    for (std::int64_t l = 0; i + l < n; ++l) rest[l] = terms[i + l];
    return hn::Add(sum, hn::Load(d, rest));
  };
  if (n <= 4 * width) {
    const auto lane = [&](std::int64_t l) HWY_ATTR { return l < n ? added(hn::Zero(d), l) : hn::Zero(d); };
    return folded(d, hn::Add(hn::Add(lane(0), lane(2 * width)), hn::Add(lane(width), lane(3 * width))));
  }

  HWY_ALIGN double lane[sum_lanes];
  const std::int64_t lanes = n < sum_lanes ? std::int64_t(std::bit_ceil(std::uint64_t(n))) : sum_lanes;
  std::int64_t first = 0, ahead = sum_chunk;
  for (; first + Terms::rounds * lanes <= n; first += Terms::rounds * lanes)
    for (std::int64_t l = 0; l < lanes; l += width) {
      V sum = hn::Add(first ? hn::Load(d, lane + l) : hn::Zero(d), terms.vector(first + l));
      if constexpr (Terms::rounds == 4) {
        // Processors do not foresee reads from four places. Prefetches in the order of addresses take over.
        for (; ahead - sum_chunk < first + 4 * l; ahead += terms.line) hwy::Prefetch(terms.x + ahead);
        sum = hn::Add(sum, terms.vector(first + l + lanes));
        sum = hn::Add(sum, terms.vector(first + l + 2 * lanes));
        sum = hn::Add(sum, terms.vector(first + l + 3 * lanes));
      }
      hn::Store(sum, d, lane + l);
    }
  for (; first < n; first += lanes)
    for (std::int64_t l = 0; l < lanes && (first == 0 || first + l < n); l += width)
      hn::Store(added(first ? hn::Load(d, lane + l) : hn::Zero(d), first + l), d, lane + l);
  std::int64_t left = lanes;  // each pass of the loop halves it twice
  for (; left >= 4 * width; left /= 4)
    for (std::int64_t l = 0; l < left / 4; l += width) {
      const auto quarter = [&](int q) HWY_ATTR { return hn::Load(d, lane + l + q * (left / 4)); };
      hn::Store(hn::Add(hn::Add(quarter(0), quarter(2)), hn::Add(quarter(1), quarter(3))), d, lane + l);
    }
  const V last = hn::Load(d, lane);
  return folded(d, left > width ? hn::Add(last, hn::Load(d, lane + width)) : last);
}

static double values_f32(const float* x, std::int64_t n) { return sum_of(n, Values<float>{x}); }
static double values_f64(const double* x, std::int64_t n) { return sum_of(n, Values<double>{x}); }
static double products_f32(const float* x, const float* y, std::int64_t n) {
  return sum_of(n, Products<float>{x, y});
}
static double products_f64(const double* x, const double* y, std::int64_t n) {
  return sum_of(n, Products<double>{x, y});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kolmo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kolmo {

HWY_EXPORT(values_f32);
HWY_EXPORT(values_f64);
HWY_EXPORT(products_f32);
HWY_EXPORT(products_f64);

double vector_lane_sum(const float* x, std::int64_t n) { return HWY_DYNAMIC_DISPATCH(values_f32)(x, n); }
double vector_lane_sum(const double* x, std::int64_t n) { return HWY_DYNAMIC_DISPATCH(values_f64)(x, n); }
double vector_lane_sum(const float* x, const float* y, std::int64_t n) {
  return HWY_DYNAMIC_DISPATCH(products_f32)(x, y, n);
}
double vector_lane_sum(const double* x, const double* y, std::int64_t n) {
  return HWY_DYNAMIC_DISPATCH(products_f64)(x, y, n);
}

}  // namespace kolmo
#endif
