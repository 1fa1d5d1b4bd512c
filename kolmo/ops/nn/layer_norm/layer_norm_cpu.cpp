// Compiled once per instruction set; the best supported one is chosen at run time.
#include <cmath>

#include "kolmo/ops/nn/layer_norm/layer_norm_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/ops/nn/layer_norm/layer_norm_cpu.cpp"
// clang-format off
#include <hwy/foreach_target.h>
#include "kolmo/skeleton/activation_vectors.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kolmo {
namespace HWY_NAMESPACE {
namespace {  // anonymous, since other operators have functions of the same names
using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

template <class C>
Moments<double> moments(const C* x, std::int64_t n) {
  const D d;
  const auto value = [&](std::int64_t i, auto count) HWY_ATTR { return load(d, x + i, count); };
  const double mean = sum(d, n, value) / double(n);
  const double squares = sum(d, n, [&](std::int64_t i, auto count) HWY_ATTR {
    const V difference = hn::Sub(value(i, count), hn::Set(d, mean));
    return hn::Mul(difference, difference);
  });
  return {double(n), mean, squares};
}

/// Normalises in the type C. A float may not hold the mean and rstd, so the mean has a second part and rstd
/// two factors.
template <Activation F, class C>
void normalise_by(const Normalisation<C>& f, const C* x, std::int64_t n, C* y) {
  const hn::ScalableTag<C> d;
  const auto mean = hn::Set(d, C(f.mean)), rest = hn::Set(d, C(f.mean - double(C(f.mean)))),
             root = hn::Set(d, C(std::sqrt(f.rstd)));
  each_vector(d, n, [&](std::int64_t i, auto count) HWY_ATTR {
    auto v = hn::Mul(hn::Mul(hn::Sub(hn::Sub(load(d, x + i, count), mean), rest), root), root);
    if (f.scale) v = hn::Mul(v, load(d, f.scale + i, count));
    if (f.shift) v = hn::Add(v, load(d, f.shift + i, count));
    store(d, activated<F>(d, v), y + i, count);
  });
}

template <class C>
void normalise(const Normalisation<C>& f, const C* x, std::int64_t n, C* y) {
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

static LayerNormFunctions<double> functions_f64() { return {moments<double>, normalise<double>}; }
static LayerNormFunctions<float> functions_f32() { return {moments<float>, normalise<float>}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kolmo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kolmo {

HWY_EXPORT(functions_f64);
HWY_EXPORT(functions_f32);

template <>
LayerNormFunctions<double> layer_norm_functions() {
  return HWY_DYNAMIC_DISPATCH(functions_f64)();
}
template <>
LayerNormFunctions<float> layer_norm_functions() {
  return HWY_DYNAMIC_DISPATCH(functions_f32)();
}

}  // namespace kolmo
#endif
