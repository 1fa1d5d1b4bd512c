// Compiled once per instruction set; the best supported one is chosen at run time.
#include "kolmo/ops/elementwise/unary/unary_maps.hpp"
#include "kolmo/runtime/cpu/vectors.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/ops/elementwise/unary/unary_cpu.cpp"
// clang-format off
#include <hwy/foreach_target.h>
#include "kolmo/skeleton/activation_vectors.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kolmo {
namespace HWY_NAMESPACE {
namespace {  // anonymous, since other operators have functions of the same names

struct OfExp {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return exponential(d, x);
  }
};
struct OfSigmoid {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return logistic(d, x);
  }
};
struct OfTanh {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Tanh(d, x);
  }
};
template <Activation F>
struct Of {
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return activated<F>(d, x);
  }
};

template <class F, class C>
void map(const C* x, std::int64_t n, C* y) {
  const hn::ScalableTag<C> d;
  const auto step = [&](std::int64_t i, auto count)
                        HWY_ATTR { store(d, F()(d, load(d, x + i, count)), y + i, count); };
  const std::int64_t first = before_line(y, n);
  each_vector(d, first, step);
  x += first, y += first;
  each_vector(d, n - first, step);
}

template <class C>
UnaryMaps<C> maps() {
  return {map<OfExp, C>,  map<Of<Activation::relu>, C>, map<OfSigmoid, C>,
          map<OfTanh, C>, map<Of<Activation::gelu>, C>, map<Of<Activation::gelu_tanh>, C>};
}
static UnaryMaps<double> maps_f64() { return maps<double>(); }
static UnaryMaps<float> maps_f32() { return maps<float>(); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kolmo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kolmo {

HWY_EXPORT(maps_f64);
HWY_EXPORT(maps_f32);

template <>
UnaryMaps<double> unary_maps() {
  return HWY_DYNAMIC_DISPATCH(maps_f64)();
}
template <>
UnaryMaps<float> unary_maps() {
  return HWY_DYNAMIC_DISPATCH(maps_f32)();
}

}  // namespace kolmo
#endif
