// Compiled once per instruction set, chosen at run time.
#include "kolmo/ops/nn/softmax/softmax_cpu.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/ops/nn/softmax/softmax_cpu.cpp"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kolmo {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Independent running results hide the latency of an operation.
constexpr std::int64_t side_by_side = 4;
// Sums of so many terms, of at most 35 roundings, are added in double.
constexpr std::int64_t block = 256;

template <class T>
Exponentials exponentials_of(const T* x, std::int64_t n, T* e) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr T least = -std::numeric_limits<T>::infinity();
  const std::int64_t lanes = std::int64_t(hn::Lanes(d)), vectors = n - n % lanes;
  HWY_ALIGN T rest[hn::MaxLanes(hn::ScalableTag<T>())];
  std::fill_n(rest, lanes, least);
  std::copy(x + vectors, x + n, rest);

  V top[side_by_side];
  for (V& v : top) v = hn::Load(d, rest);
  std::int64_t i = 0;
  for (; i + side_by_side * lanes <= vectors; i += side_by_side * lanes)
    for (int s = 0; s < side_by_side; ++s) top[s] = hn::Max(top[s], hn::LoadU(d, x + i + s * lanes));
  for (; i < vectors; i += lanes) top[0] = hn::Max(top[0], hn::LoadU(d, x + i));
  const V most = hn::MaxOfLanes(d, hn::Max(hn::Max(top[0], top[1]), hn::Max(top[2], top[3])));
  const T largest = hn::GetLane(most);
  const V shift = hn::IfThenZeroElse(hn::Eq(most, hn::Set(d, least)), most);

  const auto of = [&](V v) HWY_ATTR {
    const V below = hn::Sub(v, shift);
    return hn::IfThenElse(hn::IsNaN(below), below, hn::Exp(d, below));
  };
  double sum = 0;
  for (std::int64_t begin = 0; begin < vectors; begin += block) {
    const std::int64_t end = std::min(vectors, begin + block);
    V sums[side_by_side];
    for (V& v : sums) v = hn::Zero(d);
    for (i = begin; i + side_by_side * lanes <= end; i += side_by_side * lanes)
      for (int s = 0; s < side_by_side; ++s) {
        const V v = of(hn::LoadU(d, x + i + s * lanes));
        hn::StoreU(v, d, e + i + s * lanes);
        sums[s] = hn::Add(sums[s], v);
      }
    for (; i < end; i += lanes) {
      const V v = of(hn::LoadU(d, x + i));
      hn::StoreU(v, d, e + i);
      sums[0] = hn::Add(sums[0], v);
    }
    const V all = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
    sum += double(hn::GetLane(hn::SumOfLanes(d, all)));
  }
  const V last = of(hn::Load(d, rest));
  hn::Store(last, d, rest);
  std::copy_n(rest, n - vectors, e + vectors);
  return {double(largest), sum + double(hn::GetLane(hn::SumOfLanes(d, last)))};
}

template <class T>
void scale_by(T* e, std::int64_t n, T factor) {
  const hn::ScalableTag<T> d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, e + i), hn::Set(d, factor)), d, e + i);
  for (; i < n; ++i) e[i] *= factor;
}

Exponentials exponentials_f64(const double* x, std::int64_t n, double* e) { return exponentials_of(x, n, e); }
Exponentials exponentials_f32(const float* x, std::int64_t n, float* e) { return exponentials_of(x, n, e); }
void scale_f64(double* e, std::int64_t n, double factor) { scale_by(e, n, factor); }
void scale_f32(float* e, std::int64_t n, float factor) { scale_by(e, n, factor); }

}  // namespace HWY_NAMESPACE
}  // namespace kolmo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kolmo {

HWY_EXPORT(exponentials_f64);
HWY_EXPORT(exponentials_f32);
HWY_EXPORT(scale_f64);
HWY_EXPORT(scale_f32);

Exponentials exponentials(const double* x, std::int64_t n, double* e) {
  return HWY_DYNAMIC_DISPATCH(exponentials_f64)(x, n, e);
}
Exponentials exponentials(const float* x, std::int64_t n, float* e) {
  return HWY_DYNAMIC_DISPATCH(exponentials_f32)(x, n, e);
}
void scale(double* e, std::int64_t n, double factor) { HWY_DYNAMIC_DISPATCH(scale_f64)(e, n, factor); }
void scale(float* e, std::int64_t n, float factor) { HWY_DYNAMIC_DISPATCH(scale_f32)(e, n, factor); }

}  // namespace kolmo
#endif
