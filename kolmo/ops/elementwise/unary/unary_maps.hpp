#pragma once
#include <cstdint>

namespace kolmo {

/// Computes y_i = f(x_i) for n elements on the CPU; y may be x.
template <class C>
using UnaryMap = void (*)(const C* x, std::int64_t n, C* y);

/// The functions in CPU vectors. They are compiled once per instruction set, and chosen at run time.
template <class C>
struct UnaryMaps {
  UnaryMap<C> exp, relu, sigmoid, tanh, gelu, gelu_tanh;
};
template <class C>
UnaryMaps<C> unary_maps();

}  // namespace kolmo
