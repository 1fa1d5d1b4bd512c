// Compiled once per instruction set; the best supported one is chosen at run time.
#include "kolmo/ops/dense/matmul/matmul_epilogue.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kolmo/ops/dense/matmul/matmul_epilogue.cpp"
// clang-format off
#include <hwy/foreach_target.h>
#include "kolmo/skeleton/activation_vectors.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kolmo {
namespace HWY_NAMESPACE {
namespace {  // anonymous, since other operators have functions of the same names

template <Activation F, class C>
void finish_by(C* x, const C* bias, std::int64_t n) {
  const hn::ScalableTag<C> d;
  if (bias)
    each_vector(d, n, [&](std::int64_t i, auto count) HWY_ATTR {
      store(d, activated<F>(d, hn::Add(load(d, x + i, count), load(d, bias + i, count))), x + i, count);
    });
  else if (F != Activation::none)
    each_vector(d, n, [&](std::int64_t i, auto count) HWY_ATTR {
      store(d, activated<F>(d, load(d, x + i, count)), x + i, count);
    });
}

template <class C>
void finish(Activation f, C* x, const C* bias, std::int64_t n) {
  switch (f) {
    case Activation::relu:
      return finish_by<Activation::relu>(x, bias, n);
    case Activation::gelu:
      return finish_by<Activation::gelu>(x, bias, n);
    case Activation::gelu_tanh:
      return finish_by<Activation::gelu_tanh>(x, bias, n);
    default:
      return finish_by<Activation::none>(x, bias, n);
  }
}

static void finish_f64(Activation f, double* x, const double* bias, std::int64_t n) { finish(f, x, bias, n); }
static void finish_f32(Activation f, float* x, const float* bias, std::int64_t n) { finish(f, x, bias, n); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kolmo
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kolmo {

HWY_EXPORT(finish_f64);
HWY_EXPORT(finish_f32);

void finish_row(Activation f, double* x, const double* bias, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(finish_f64)(f, x, bias, n);
}
void finish_row(Activation f, float* x, const float* bias, std::int64_t n) {
  HWY_DYNAMIC_DISPATCH(finish_f32)(f, x, bias, n);
}

}  // namespace kolmo
#endif
