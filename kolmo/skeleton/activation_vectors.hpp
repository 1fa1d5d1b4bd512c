// The functions of base/activation.hpp and similar ones in CPU vectors of float or double, for sources that
// are compiled once per instruction set. Include it after <hwy/foreach_target.h>.
#if defined(KOLMO_SKELETON_ACTIVATION_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef KOLMO_SKELETON_ACTIVATION_VECTORS
#undef KOLMO_SKELETON_ACTIVATION_VECTORS
#else
#define KOLMO_SKELETON_ACTIVATION_VECTORS
#endif

#include <iterator>

#include "kolmo/base/activation.hpp"
#include "kolmo/skeleton/row_vectors.hpp"

#ifndef KOLMO_SKELETON_ERFC_TERMS
#define KOLMO_SKELETON_ERFC_TERMS
namespace kolmo {
/// exp(z^2) erfc(z) = t sum_i erfc_terms[i] (2 t - 1)^i with t = 2 / (2 + z) for z >= 0. The terms are the
/// Chebyshev series in 2 t - 1 up to degree 25, converted to powers; truncation errs by 1e-17. For float the
/// series ends at degree 11 and errs by 2e-8.
template <class T>
inline constexpr T erfc_terms[] = {
    0.5107913526210115,      0.34358034220690514,     0.13973604627801475,     0.018221115753459038,
    -0.010755330944036547,   -0.0032395925345819598,  0.0015453060141016417,   0.0004186480432774864,
    -0.0003315365766933274,  -1.7185831861212437e-05, 7.223418831404163e-05,   -1.707378120473235e-05,
    -1.0842985401573169e-05, 8.057876106535329e-06,   -5.776421840548684e-07,  -1.8150360495514597e-06,
    1.030569630290622e-06,   -1.3753680996123269e-08, -3.2624577810791516e-07, 1.7867145266566834e-07,
    3.600062923689654e-08,   -6.965788224130184e-08,  6.520519417909027e-09,   1.321612027716464e-08,
    -1.911188257490461e-09,  -1.0589995119729985e-09};
template <>
inline constexpr float erfc_terms<float>[] = {
    0.5107913613319397f,      0.34358033537864685f,     0.13973572850227356f,   0.018221383914351463f,
    -0.010751626454293728f,   -0.003241854952648282f,   0.0015291571617126465f, 0.0004270201607141644f,
    -0.00029938272200524807f, -3.2951538742054254e-05f, 4.216119850752875e-05f, -1.327395580119628e-06f};
}  // namespace kolmo
#endif

HWY_BEFORE_NAMESPACE();
namespace kolmo {
namespace HWY_NAMESPACE {

/// e^x over the whole range; NaN stays NaN.
template <class D, class V>
HWY_INLINE V exponential(D d, V x) {
  using T = hn::TFromD<D>;
  const V bounded = hn::Min(x, hn::Set(d, T(sizeof(T) == 4 ? 104 : 1000)));  // e^bounded is infinite
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(d, bounded));
}

/// 1 / (1 + e^-x). The relative accuracy holds for x < 0 too.
template <class D, class V>
HWY_INLINE V logistic(D d, V x) {
  const V one = hn::Set(d, 1), e = exponential(d, hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
}

/// 2 Phi(x) = erfc(-x / sqrt 2). Even and odd powers are summed independently.
template <class D, class V>
HWY_INLINE V twice_phi(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr const auto& term = erfc_terms<T>;
  constexpr int terms = int(std::size(term));
  static_assert(terms % 2 == 0);
  const V one = hn::Set(d, T(1)), two = hn::Set(d, T(2));
  const V z = hn::Mul(hn::Abs(x), hn::Set(d, T(0.70710678118654752440)));
  const V t = hn::Div(two, hn::Add(two, z)), u = hn::Sub(hn::Add(t, t), one);
  const V square = hn::Mul(u, u);
  V even = hn::Set(d, term[terms - 2]), odd = hn::Set(d, term[terms - 1]);
  for (int i = terms - 4; i >= 0; i -= 2) {
    even = hn::MulAdd(even, square, hn::Set(d, term[i]));
    odd = hn::MulAdd(odd, square, hn::Set(d, term[i + 1]));
  }
  const V p = hn::MulAdd(odd, u, even);
  const V tail = hn::Mul(hn::Mul(t, p), hn::Exp(d, hn::Mul(hn::Mul(x, x), hn::Set(d, T(-0.5)))));
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Sub(two, tail), tail);
}

template <Activation F, class D, class V>
HWY_INLINE V activated(D d, V x) {
  using T = hn::TFromD<D>;
  if constexpr (F == Activation::relu) return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
  if constexpr (F == Activation::gelu) return hn::Mul(hn::Mul(hn::Set(d, T(0.5)), x), twice_phi(d, x));
  if constexpr (F ==
                // (1 + tanh(v)) / 2 = 1 / (1 + exp(-2 v)), which is 0 where the exponential is infinite
                Activation::gelu_tanh) {
    const V cubic = hn::MulAdd(hn::Mul(hn::Set(d, T(0.044715)), hn::Mul(x, x)), x, x);
    const V power = hn::Mul(hn::Set(d, T(-2 * 0.79788456080286535588)), cubic);
    const V most = hn::Set(d, T(sizeof(T) == 4 ? 88 : 700));
    const V y = hn::Div(x, hn::Add(hn::Set(d, T(1)), hn::Exp(d, hn::Min(most, power))));
    return hn::IfThenElse(hn::Gt(power, most), hn::Mul(x, hn::Zero(d)), y);
  }
  return x;
}

}  // namespace HWY_NAMESPACE
}  // namespace kolmo
HWY_AFTER_NAMESPACE();
#endif
