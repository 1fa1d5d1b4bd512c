// Compiled once per instruction set; the best supported one is chosen at run time.
#include <cmath>

#include "kolmo/ops/nn/normalize/normalize_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/ops/nn/normalize/normalize_cpu.cpp"
// clang-format off
#include <hwy/foreach_target.h>
#include "kolmo/skeleton/row_vectors.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kolmo {
namespace HWY_NAMESPACE {
namespace {  // anonymous, since other operators have functions of the same names
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

/// The largest magnitude; NaN if an element is NaN.
template <class C>
double largest_magnitude(D d, const C* x, std::int64_t n) {
  V most = hn::Zero(d), nan = hn::Zero(d);
  each_vector(d, n, [&](std::int64_t i, auto count) HWY_ATTR {
    const V v = load(d, x + i, count);
    most = hn::Max(most, hn::IfThenZeroElse(hn::IsNaN(v), hn::Abs(v)));
    nan = hn::IfThenElse(hn::IsNaN(v), v, nan);
  });
  return hn::GetLane(hn::MaxOfLanes(d, most)) + hn::GetLane(hn::SumOfLanes(d, nan));
}

template <class C>
Magnitude<double> measure(RowNorm norm, const C* x, std::int64_t n) {
  const D d;
  const auto value = [&](std::int64_t i, auto count) HWY_ATTR { return load(d, x + i, count); };
  if (norm == RowNorm::sum) return {0, sum(d, n, value)};
  if (norm == RowNorm::l1)
    return {0, sum(d, n, [&](std::int64_t i, auto count) HWY_ATTR { return hn::Abs(value(i, count)); })};
  // Squares of floats are normal doubles, so that their sum needs no scale: 1 stands in for the largest
  // magnitude.
  if (sizeof(C) == 4 && norm == RowNorm::l2) {
    const double squares = sum(d, n, [&](std::int64_t i, auto count) HWY_ATTR {
      const V v = value(i, count);
      return hn::Mul(v, v);
    });
    if (std::isfinite(squares)) return {double(squares > 0), squares};
  }
  const double largest = largest_magnitude(d, x, n);
  if (norm == RowNorm::max || largest == 0) return {largest, 0};
  return {largest, sum(d, n, [&](std::int64_t i, auto count) HWY_ATTR {
            const V share = hn::Div(value(i, count), hn::Set(d, largest));
            return hn::Mul(share, share);
          })};
}

template <class C>
void divide(const C* x, std::int64_t n, double norm, C* y) {
  if (sizeof(C) == 4 && norm > 1e-37 && norm < 1e37) {  // a float can hold the inverse
    const hn::ScalableTag<C> c;
    const auto inverse = hn::Set(c, C(1 / norm));
    return each_vector(c, n, [&](std::int64_t i, auto count) HWY_ATTR {
      store(c, hn::Mul(load(c, x + i, count), inverse), y + i, count);
    });
  }
  const D d;
  const V by = hn::Set(d, norm);
  each_vector(d, n, [&](std::int64_t i, auto count) HWY_ATTR {
    const V v = load(d, x + i, count);
    const auto nothing = hn::And(hn::Eq(v, hn::Zero(d)), hn::Eq(by, hn::Zero(d)));
    store(d, hn::IfThenElse(nothing, v, hn::Div(v, by)), y + i, count);
  });
}

static NormalizeFunctions<double> functions_f64() { return {measure<double>, divide<double>}; }
static NormalizeFunctions<float> functions_f32() { return {measure<float>, divide<float>}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kolmo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kolmo {

HWY_EXPORT(functions_f64);
HWY_EXPORT(functions_f32);

template <>
NormalizeFunctions<double> normalize_functions() {
  return HWY_DYNAMIC_DISPATCH(functions_f64)();
}
template <>
NormalizeFunctions<float> normalize_functions() {
  return HWY_DYNAMIC_DISPATCH(functions_f32)();
}

}  // namespace kolmo
#endif
