// Compiled once per instruction set; the best supported one is chosen at run time.
#include "kolmo/ops/nn/batch_norm/batch_norm_vectors.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/ops/nn/batch_norm/batch_norm_cpu.cpp"
// clang-format off
#include <hwy/foreach_target.h>
#include "kolmo/skeleton/activation_vectors.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kolmo {
namespace HWY_NAMESPACE {
namespace {  // anonymous, since other operators have functions of the same names

template <Activation F, class C>
void apply_by(const ChannelMaps<C>& f, const C* x, std::int64_t n, C* y) {
  const hn::ScalableTag<C> d;
  each_vector(d, n, [&](std::int64_t i, auto count) HWY_ATTR {
    const auto of = [&](const C* values)
                        HWY_ATTR { return f.each ? load(d, values + i, count) : hn::Set(d, *values); };
    const auto v = hn::MulAdd(hn::Sub(load(d, x + i, count), of(f.mean)), of(f.factor), of(f.shift));
    store(d, activated<F>(d, v), y + i, count);
  });
}

template <class C>
void apply(const ChannelMaps<C>& f, const C* x, std::int64_t n, C* y) {
  switch (f.activation) {
    case Activation::relu:
      return apply_by<Activation::relu>(f, x, n, y);
    case Activation::gelu:
      return apply_by<Activation::gelu>(f, x, n, y);
    case Activation::gelu_tanh:
      return apply_by<Activation::gelu_tanh>(f, x, n, y);
    default:
      return apply_by<Activation::none>(f, x, n, y);
  }
}

static ApplyMaps<double> apply_f64() { return apply<double>; }
static ApplyMaps<float> apply_f32() { return apply<float>; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kolmo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kolmo {

HWY_EXPORT(apply_f64);
HWY_EXPORT(apply_f32);

template <>
ApplyMaps<double> apply_maps() {
  return HWY_DYNAMIC_DISPATCH(apply_f64)();
}
template <>
ApplyMaps<float> apply_maps() {
  return HWY_DYNAMIC_DISPATCH(apply_f32)();
}

}  // namespace kolmo
#endif
