// Compiled once per instruction set, chosen at run time.
#include "kolmo/ops/nn/layer_norm/layer_norm_cpu.hpp"

#include <algorithm>
#include <iterator>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/ops/nn/layer_norm/layer_norm_cpu.cpp"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/contrib/math/math-inl.h>
// clang-format on

#ifndef KOLMO_LAYER_NORM_ERFC
#define KOLMO_LAYER_NORM_ERFC
namespace kolmo {
/// exp(z^2) erfc(z) = t sum_i erfc_terms[i] (2 t - 1)^i with t = 2 / (2 + z) for z >= 0: its Chebyshev series
/// in 2 t - 1 up to degree 25, which leaves out 1e-17, as powers.
inline constexpr double erfc_terms[] = {
    0.5107913526210115,      0.34358034220690514,     0.13973604627801475,     0.018221115753459038,
    -0.010755330944036547,   -0.0032395925345819598,  0.0015453060141016417,   0.0004186480432774864,
    -0.0003315365766933274,  -1.7185831861212437e-05, 7.223418831404163e-05,   -1.707378120473235e-05,
    -1.0842985401573169e-05, 8.057876106535329e-06,   -5.776421840548684e-07,  -1.8150360495514597e-06,
    1.030569630290622e-06,   -1.3753680996123269e-08, -3.2624577810791516e-07, 1.7867145266566834e-07,
    3.600062923689654e-08,   -6.965788224130184e-08,  6.520519417909027e-09,   1.321612027716464e-08,
    -1.911188257490461e-09,  -1.0589995119729985e-09};
}  // namespace kolmo
#endif

HWY_BEFORE_NAMESPACE();
namespace kolmo {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

HWY_INLINE V load(D d, const double* x) { return hn::LoadU(d, x); }
HWY_INLINE V load(D d, const float* x) { return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x)); }
HWY_INLINE void store(D d, V v, double* y) { hn::StoreU(v, d, y); }
HWY_INLINE void store(D, V v, float* y) {
  const hn::Rebind<float, D> f;
  hn::StoreU(hn::DemoteTo(f, v), f, y);
}

/// Sum of term(x_i), which takes a vector of them: 256 terms with at most 35 roundings, and then these.
template <class T, class Term>
HWY_INLINE double sum_of(const T* x, std::int64_t n, const Term& term) {
  const D d;
  constexpr int side_by_side = 4;  // hides the latency of additions
  const std::int64_t lanes = std::int64_t(hn::Lanes(d)), vectors = n - n % lanes;
  V total = hn::Zero(d);
  for (std::int64_t i = 0; i < vectors;) {
    const std::int64_t end = std::min(vectors, i + 256);
    V sum[side_by_side];
    for (V& s : sum) s = hn::Zero(d);
    for (; i + side_by_side * lanes <= end; i += side_by_side * lanes)
      for (int s = 0; s < side_by_side; ++s) sum[s] = hn::Add(sum[s], term(load(d, x + i + s * lanes)));
    for (; i < end; i += lanes) sum[0] = hn::Add(sum[0], term(load(d, x + i)));
    total = hn::Add(total, hn::Add(hn::Add(sum[0], sum[1]), hn::Add(sum[2], sum[3])));
  }
  if (vectors < n) {
    HWY_ALIGN T rest[hn::MaxLanes(D())] = {};
    std::copy(x + vectors, x + n, rest);
    const V terms = term(load(d, rest));
    total = hn::Add(total, hn::IfThenElseZero(hn::FirstN(d, std::size_t(n - vectors)), terms));
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
}

template <class T>
RowMoments moments_of(const T* x, std::int64_t n) {
  const D d;
  const double mean = sum_of(x, n, [](V v) HWY_ATTR { return v; }) / double(n);
  const V centre = hn::Set(d, mean);
  const double squares = sum_of(x, n, [&](V v) HWY_ATTR {
    const V difference = hn::Sub(v, centre);
    return hn::Mul(difference, difference);
  });
  return {double(n), mean, squares};
}

/// 2 Phi(x) = erfc(-x / sqrt 2). Even and odd powers are added side by side.
HWY_INLINE V twice_phi(D d, V x) {
  constexpr int terms = int(std::size(erfc_terms));
  static_assert(terms % 2 == 0);
  const V one = hn::Set(d, 1.0), two = hn::Set(d, 2.0);
  const V z = hn::Mul(hn::Abs(x), hn::Set(d, 0.70710678118654752440));
  const V t = hn::Div(two, hn::Add(two, z)), u = hn::Sub(hn::Add(t, t), one);
  const V square = hn::Mul(u, u);
  V even = hn::Set(d, erfc_terms[terms - 2]), odd = hn::Set(d, erfc_terms[terms - 1]);
  for (int i = terms - 4; i >= 0; i -= 2) {
    even = hn::MulAdd(even, square, hn::Set(d, erfc_terms[i]));
    odd = hn::MulAdd(odd, square, hn::Set(d, erfc_terms[i + 1]));
  }
  const V p = hn::MulAdd(odd, u, even);
  const V tail = hn::Mul(hn::Mul(t, p), hn::Exp(d, hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5))));
  return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Sub(two, tail), tail);
}

template <Activation F>
HWY_INLINE V activated(D d, V x) {
  if constexpr (F == Activation::relu) return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
  if constexpr (F == Activation::gelu) return hn::Mul(hn::Mul(hn::Set(d, 0.5), x), twice_phi(d, x));
  if constexpr (F == Activation::gelu_tanh) {  // (1 + tanh(v)) / 2 = 1 / (1 + exp(-2 v)); exp(700) is large
    const V cubic = hn::MulAdd(hn::Mul(hn::Set(d, 0.044715), hn::Mul(x, x)), x, x);
    const V power = hn::Min(hn::Set(d, 700.0), hn::Mul(hn::Set(d, -2 * 0.79788456080286535588), cubic));
    return hn::Div(x, hn::Add(hn::Set(d, 1.0), hn::Exp(d, power)));
  }
  return x;
}

template <Activation F, class T>
void normalise_by(const Normalisation<T>& f, const T* x, std::int64_t n, T* y) {
  const D d;
  const std::int64_t lanes = std::int64_t(hn::Lanes(d));
  const V mean = hn::Set(d, f.mean), rstd = hn::Set(d, f.rstd);
  const auto of = [&](const T* from, const T* scale, const T* shift) HWY_ATTR {
    V v = hn::Mul(hn::Sub(load(d, from), mean), rstd);
    if (scale) v = hn::Mul(v, load(d, scale));
    if (shift) v = hn::Add(v, load(d, shift));
    return activated<F>(d, v);
  };
  const auto from = [](const T* row, std::int64_t i) { return row ? row + i : nullptr; };
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) store(d, of(x + i, from(f.scale, i), from(f.shift, i)), y + i);
  if (i == n) return;
  HWY_ALIGN T rest[3][hn::MaxLanes(D())] = {};
  const auto padded = [&](int at, const T* row) -> const T* {
    if (row) std::copy(row + i, row + n, rest[at]);
    return row ? rest[at] : nullptr;
  };
  store(d, of(padded(0, x), padded(1, f.scale), padded(2, f.shift)), rest[0]);
  std::copy_n(rest[0], n - i, y + i);
}

template <class T>
void normalise_row(const Normalisation<T>& f, const T* x, std::int64_t n, T* y) {
  switch (f.activation) {
    case Activation::relu:
      return normalise_by<Activation::relu>(f, x, n, y);
    case Activation::gelu:
      return normalise_by<Activation::gelu>(f, x, n, y);
    case Activation::gelu_tanh:
      return normalise_by<Activation::gelu_tanh>(f, x, n, y);
    default:
      return normalise_by<Activation::none>(f, x, n, y);
  }
}

RowMoments moments_f64(const double* x, std::int64_t n) { return moments_of(x, n); }
RowMoments moments_f32(const float* x, std::int64_t n) { return moments_of(x, n); }
void normalise_f64(const Normalisation<double>& f, const double* x, std::int64_t n, double* y) {
  normalise_row(f, x, n, y);
}
void normalise_f32(const Normalisation<float>& f, const float* x, std::int64_t n, float* y) {
  normalise_row(f, x, n, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace kolmo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kolmo {

HWY_EXPORT(moments_f64);
HWY_EXPORT(moments_f32);
HWY_EXPORT(normalise_f64);
HWY_EXPORT(normalise_f32);

RowMoments row_moments(const double* x, std::int64_t n) { return HWY_DYNAMIC_DISPATCH(moments_f64)(x, n); }
RowMoments row_moments(const float* x, std::int64_t n) { return HWY_DYNAMIC_DISPATCH(moments_f32)(x, n); }
void normalise(const Normalisation<double>& f, const double* x, std::int64_t n, double* y) {
  HWY_DYNAMIC_DISPATCH(normalise_f64)(f, x, n, y);
}
void normalise(const Normalisation<float>& f, const float* x, std::int64_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(normalise_f32)(f, x, n, y);
}

}  // namespace kolmo
#endif
