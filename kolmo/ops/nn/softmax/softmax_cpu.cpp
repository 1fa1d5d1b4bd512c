// Highway compiles this file once for each instruction set. The best one that the processor has is chosen at
// run time.
#include "kolmo/ops/nn/softmax/softmax_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/ops/nn/softmax/softmax_cpu.cpp"
// clang-format off
#include <hwy/foreach_target.h>
#include "kolmo/skeleton/row_vectors.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kolmo {
namespace HWY_NAMESPACE {
namespace {  // other operators have functions of the same names

template <class C>
Exponentials<double> exponentials(const C* x, std::int64_t n, C* e) {
  const hn::ScalableTag<C> d;
  using V = hn::Vec<decltype(d)>;
  const V most = largest(d, x, n);
  const V shift = hn::IfThenZeroElse(hn::Eq(most, hn::Set(d, -std::numeric_limits<C>::infinity())), most);
  const double total = sum(d, n, [&](std::int64_t i, auto count) HWY_ATTR {
    const V below = hn::Sub(load(d, x + i, count), shift);
    const V v = hn::IfThenElse(hn::IsNaN(below), below, hn::Exp(d, below));
    store(d, v, e + i, count);
    return v;
  });
  return {double(hn::GetLane(most)), total};
}

template <class C>
void scale(const C* e, std::int64_t n, C factor, C* y) {
  const hn::ScalableTag<C> d;
  each_vector(d, n, [&](std::int64_t i, auto count) HWY_ATTR {
    store(d, hn::Mul(load(d, e + i, count), hn::Set(d, factor)), y + i, count);
  });
}

static SoftmaxFunctions<double> functions_f64() { return {exponentials<double>, scale<double>}; }
static SoftmaxFunctions<float> functions_f32() { return {exponentials<float>, scale<float>}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kolmo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kolmo {

HWY_EXPORT(functions_f64);
HWY_EXPORT(functions_f32);

template <>
SoftmaxFunctions<double> softmax_functions() {
  return HWY_DYNAMIC_DISPATCH(functions_f64)();
}
template <>
SoftmaxFunctions<float> softmax_functions() {
  return HWY_DYNAMIC_DISPATCH(functions_f32)();
}

}  // namespace kolmo
#endif
