#pragma once
#include "kolmo/ops/random/random_normal/random_normal.hpp"
#include "kolmo/skeleton/draw.hpp"

namespace kolmo {

template <class T>
struct Normal : NormalValue<T> {
  using C = Compute<T>;
  explicit Normal(const RandomNormalArgs& a) : NormalValue<T>{C(a.mean), C(a.deviation)} {}
};
using NormalDraws = Draws<RandomNormalArgs, Normal, double, float, Half, BFloat16>;

}  // namespace kolmo
