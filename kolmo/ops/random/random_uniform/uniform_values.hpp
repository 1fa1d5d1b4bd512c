#pragma once
#include "kolmo/ops/random/random_uniform/random_uniform.hpp"
#include "kolmo/skeleton/draw.hpp"

namespace kolmo {

template <class T>
struct Uniform : UniformValue<T> {
  using C = Compute<T>;
  explicit Uniform(const RandomUniformArgs& a) : UniformValue<T>{C(a.low), C(a.high) - C(a.low)} {}
};
using UniformDraws = Draws<RandomUniformArgs, Uniform, double, float, Half, BFloat16>;

}  // namespace kolmo
