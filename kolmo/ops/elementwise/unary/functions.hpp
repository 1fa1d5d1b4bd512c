#pragma once
#include <cmath>

#include "kolmo/base/activation.hpp"
#include "kolmo/ops/elementwise/unary/unary.hpp"
#include "kolmo/skeleton/elementwise.hpp"

namespace kolmo {

template <class C>
struct Exponential {
  explicit Exponential(const UnaryArgs&) {}
  KOLMO_HD C operator()(C x) const { return std::exp(x); }
};
template <class C>
struct Rectifier {
  explicit Rectifier(const UnaryArgs&) {}
  KOLMO_HD C operator()(C x) const { return activate(Activation::relu, x); }
};
template <class C>
struct Logistic {
  explicit Logistic(const UnaryArgs&) {}
  KOLMO_HD C operator()(C x) const {
    const C e = std::exp(x < 0 ? x : -x), share = inverse(C(1) + e);  // e is at most 1
    return x < 0 ? e * share : share;
  }
};
template <class C>
struct HyperbolicTangent {
  explicit HyperbolicTangent(const UnaryArgs&) {}
  KOLMO_HD C operator()(C x) const { return std::tanh(x); }
};
template <class C>
struct GaussianError {
  Activation form;
  explicit GaussianError(const GeluArgs& a)
      : form(a.form == GeluForm::erf ? Activation::gelu : Activation::gelu_tanh) {}
  KOLMO_HD C operator()(C x) const { return activate(form, x); }
};

template <template <class> class F, class A = UnaryArgs>
using Unary = Elements<A, F, FloatTypes, &A::y, &A::x>;

}  // namespace kolmo
