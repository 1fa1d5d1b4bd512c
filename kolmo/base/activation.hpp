#pragma once
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "kolmo/base/hd.hpp"

namespace kolmo {

/// The function an operator may apply to its result before it is written.
///   relu       max(x, 0); NaN stays NaN
///   gelu       x Phi(x), with the distribution function Phi of a standard normal number
///   gelu_tanh  x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, within 5e-4 of gelu
/// Source: Hendrycks & Gimpel 2016.
enum class Activation : std::int32_t { none, relu, gelu, gelu_tanh };
inline constexpr std::string_view activation_names[] = {"none", "relu", "gelu", "gelu_tanh"};
constexpr std::span<const std::string_view> names_of(Activation) { return activation_names; }

/// 1 / x within 1 ulp, for x from 2^-126 to 2^126.
KOLMO_HD inline double inverse(double x) { return 1 / x; }
KOLMO_HD inline float inverse(float x) {
#ifdef __CUDA_ARCH__
  asm("rcp.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
#else
  return 1 / x;
#endif
}
/// 2^x within 2 ulp. Results below the smallest normal number are 0.
KOLMO_HD inline float power_of_2(float x) {
#ifdef __CUDA_ARCH__
  asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
#else
  return std::exp2(x);
#endif
}

/// Phi(x), the distribution function of a standard normal number. In float the relative error is at most 12 +
/// x^2 units of 2^-24 above x = -13; below, the result may be 0.
KOLMO_HD inline double normal_distribution(double x) { return 0.5 * std::erfc(-0.70710678118654752440 * x); }
KOLMO_HD inline float normal_distribution(float x) {
  // With t = |x| / sqrt 2 and r = 1 / (t + 3): e^(t^2) erfc(t) / 2 = r p(1 - 6 r); p fits to 2^-29, relative.
  const float r = inverse(std::fabs(x) * 0.70710678f + 3.0f), z = 1.0f - 6.0f * r;
  constexpr float p[] = {0.537003458f,     -0.44169724f,    0.29511416f,      -0.15523313f,
                         0.0597642027f,    -0.0134190544f,  -0.000611110881f, 0.00153912161f,
                         -0.000245937059f, -0.000164915953f};
  float sum = p[9];
  for (int i = 8; i >= 0; --i) sum = sum * z + p[i];
  const float tail = r * sum * power_of_2(x * -0.72134752f * x);
  return x < 0 ? tail : 1.0f - tail;
}

template <class T>
KOLMO_HD T activate(Activation f, T x) {
  switch (f) {
    case Activation::relu:
      return x < T(0) ? T(0) : x;
    case Activation::gelu:
      return x * normal_distribution(x);
    case Activation::gelu_tanh:
      return T(0.5) * x * (T(1) + std::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
    default:
      return x;
  }
}

}  // namespace kolmo
