// Compiled once per instruction set; the best supported one is chosen at run time.
#include "kolmo/ops/nn/attention/attention_vectors.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/ops/nn/attention/attention_vectors.cpp"
// clang-format off
#include <hwy/foreach_target.h>
#include "kolmo/skeleton/row_vectors.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kolmo {
namespace HWY_NAMESPACE {
namespace {  // anonymous, since other operators have functions of the same names

template <class C>
typename AttentionVectors<C>::Weights weigh(C* x, std::int64_t n, C most) {
  const hn::ScalableTag<C> d;
  const C infinity = std::numeric_limits<C>::infinity();
  const auto top = hn::Max(largest(d, x, n), hn::Set(d, most)),
             from = hn::IfThenZeroElse(hn::Eq(top, hn::Set(d, -infinity)), top);
  const double total = sum(d, n, [&](std::int64_t i, auto count) HWY_ATTR {
    const auto below = hn::Sub(load(d, x + i, count), from);
    const auto v = hn::IfThenElse(hn::IsNaN(below), below, hn::Exp(d, below));
    store(d, v, x + i, count);
    return v;
  });
  return {hn::GetLane(top), total};
}

template <class C>
void scale(C* x, std::int64_t n, C factor) {
  const hn::ScalableTag<C> d;
  each_vector(d, n, [&](std::int64_t i, auto count) HWY_ATTR {
    store(d, hn::Mul(load(d, x + i, count), hn::Set(d, factor)), x + i, count);
  });
}

template <class Narrow>
void widen_vectors(const void* from, std::int64_t n, float* to) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<Narrow, decltype(d)> narrow;
  const auto* const x = static_cast<const Narrow*>(from);
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::PromoteTo(d, hn::LoadU(narrow, x + i)), d, to + i);
  if (i == n) return;
  HWY_ALIGN Narrow rest[hn::MaxLanes(d)] = {};
  std::copy(x + i, x + n, rest);
  store(d, hn::PromoteTo(d, hn::LoadU(narrow, rest)), to + i, First{n - i});
}

static AttentionVectors<double> vectors_f64() { return {weigh<double>, scale<double>}; }
static AttentionVectors<float> vectors_f32() { return {weigh<float>, scale<float>}; }
static void widen_f16(const void* from, std::int64_t n, float* to) {
  widen_vectors<hwy::float16_t>(from, n, to);
}
static void widen_bf16(const void* from, std::int64_t n, float* to) {
  widen_vectors<hwy::bfloat16_t>(from, n, to);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kolmo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kolmo {

HWY_EXPORT(vectors_f64);
HWY_EXPORT(vectors_f32);
HWY_EXPORT(widen_f16);
HWY_EXPORT(widen_bf16);

template <>
AttentionVectors<double> attention_vectors() {
  return HWY_DYNAMIC_DISPATCH(vectors_f64)();
}
template <>
AttentionVectors<float> attention_vectors() {
  return HWY_DYNAMIC_DISPATCH(vectors_f32)();
}
void widen(const Half* from, std::int64_t n, float* to) { HWY_DYNAMIC_DISPATCH(widen_f16)(from, n, to); }
void widen(const BFloat16* from, std::int64_t n, float* to) { HWY_DYNAMIC_DISPATCH(widen_bf16)(from, n, to); }

}  // namespace kolmo
#endif
