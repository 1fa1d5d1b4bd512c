// Compiled once per instruction set; the best supported one is chosen at run time.
#include "kolmo/runtime/cpu/lane_sums.hpp"

#include <bit>
#include <type_traits>

#include "kolmo/base/sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/runtime/cpu/lane_sums.cpp"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kolmo {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

HWY_INLINE V doubles(D d, const double* x) { return hn::LoadU(d, x); }
HWY_INLINE V doubles(D d, const float* x) { return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x)); }

/// vector(i) returns terms i, i + 1, ...; scalar(i) term i.
template <class Vector, class Scalar>
HWY_INLINE double sum_of(std::int64_t n, const Vector& vector, const Scalar& scalar) {
  const D d;
  constexpr std::int64_t side_by_side = 4;
  const auto width = std::int64_t(hn::Lanes(d));
  const std::int64_t lanes = n < sum_lanes ? std::int64_t(std::bit_ceil(std::uint64_t(n))) : sum_lanes;
  if (lanes < side_by_side * width)
    return lane_sum<1>([&](std::int64_t i) { return Sums<1>{{scalar(i)}}; }, n).value[0];

  HWY_ALIGN double lane[sum_lanes];
  const std::int64_t whole = n - n % lanes, rest = n - whole;
  for (std::int64_t l = 0; l < lanes; l += side_by_side * width) {
    V sum[side_by_side];
    for (V& s : sum) s = hn::Zero(d);
    for (std::int64_t first = l; first < whole; first += lanes)
      for (std::int64_t s = 0; s < side_by_side; ++s) sum[s] = hn::Add(sum[s], vector(d, first + s * width));
    for (std::int64_t s = 0; s < side_by_side; ++s) hn::StoreU(sum[s], d, lane + l + s * width);
  }
  std::int64_t l = 0;
  for (; l + width <= rest; l += width)
    hn::StoreU(hn::Add(hn::LoadU(d, lane + l), vector(d, whole + l)), d, lane + l);
  for (; l < rest; ++l) lane[l] += scalar(whole + l);

  std::int64_t half = lanes / 2;
  for (; half >= width; half /= 2)
    for (l = 0; l < half; l += width)
      hn::StoreU(hn::Add(hn::LoadU(d, lane + l), hn::LoadU(d, lane + l + half)), d, lane + l);
  for (; half; half /= 2)
    for (l = 0; l < half; ++l) lane[l] += lane[l + half];
  return lane[0];
}

template <class T>
double of_values(const T* x, std::int64_t n) {
  return sum_of(
      n, [&](D d, std::int64_t i) HWY_ATTR { return doubles(d, x + i); },
      [&](std::int64_t i) { return double(x[i]); });
}
template <class T>
double of_products(const T* x, const T* y, std::int64_t n) {
  return sum_of(
      n, [&](D d, std::int64_t i) HWY_ATTR { return hn::Mul(doubles(d, x + i), doubles(d, y + i)); },
      [&](std::int64_t i) { return double(x[i]) * double(y[i]); });
}
static double values_f32(const float* x, std::int64_t n) { return of_values(x, n); }
static double values_f64(const double* x, std::int64_t n) { return of_values(x, n); }
static double products_f32(const float* x, const float* y, std::int64_t n) { return of_products(x, y, n); }
static double products_f64(const double* x, const double* y, std::int64_t n) { return of_products(x, y, n); }

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
