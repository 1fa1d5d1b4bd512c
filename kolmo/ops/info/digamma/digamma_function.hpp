#pragma once
#include "kolmo/base/digamma.hpp"
#include "kolmo/ops/info/digamma/digamma.hpp"
#include "kolmo/skeleton/elementwise.hpp"

namespace kolmo {

template <class C>
struct Digamma {
  explicit Digamma(const DigammaArgs&) {}
  KOLMO_HD C operator()(C x) const { return C(digamma_exact(double(x))); }
};
using DigammaElements = Elements<DigammaArgs, Digamma, RealTypes, &DigammaArgs::y, &DigammaArgs::x>;

}  // namespace kolmo
