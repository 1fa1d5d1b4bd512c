#pragma once
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "kolmo/base/hd.hpp"

namespace kolmo {

/// The function an operator may apply to its result before it is written.
///   relu       max(x, 0); NaN stays NaN
///   gelu       x Phi(x) = x erfc(-x / sqrt 2) / 2
///   gelu_tanh  x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, within 5e-4 of gelu
/// Source: Hendrycks & Gimpel 2016.
enum class Activation : std::int32_t { none, relu, gelu, gelu_tanh };
inline constexpr std::string_view activation_names[] = {"none", "relu", "gelu", "gelu_tanh"};
constexpr std::span<const std::string_view> names_of(Activation) { return activation_names; }

template <class T>
KOLMO_HD T activate(Activation f, T x) {
  switch (f) {
    case Activation::relu:
      return x < T(0) ? T(0) : x;
    case Activation::gelu:
      return T(0.5) * x * std::erfc(T(-0.70710678118654752440) * x);
    case Activation::gelu_tanh:
      return T(0.5) * x * (T(1) + std::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
    default:
      return x;
  }
}

}  // namespace kolmo
