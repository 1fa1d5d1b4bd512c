#pragma once
#include "kolmo/base/activation.hpp"
#include "kolmo/op/op.hpp"

namespace kolmo {

struct LayerNormArgs {
  In x;
  OptIn scale, shift;
  Out y;
  OptOut mean, rstd;
  double eps = 1e-5;
  Activation activation = Activation::none;

  static constexpr auto fields() {
    using A = LayerNormArgs;
    constexpr DTypes f64 = DTypes::of(DType::f64);
    return std::array{
        field<&A::x>("x", "... k", floats, "rows to normalise"),
        field<&A::scale>("scale", "k", floats, "factor of each column, 1 if left out"),
        field<&A::shift>("shift", "k", floats, "summand of each column, 0 if left out"),
        field<&A::y>("y", "... k", floats, "activation((x - mean) rstd scale + shift)"),
        field<&A::mean>("mean", "...", f64, "mean of each row"),
        field<&A::rstd>("rstd", "...", f64, "1 / sqrt(variance + eps) of each row"),
        option<&A::eps>("eps", 0, unlimited, "added to the variance, in units of x squared"),
        option<&A::activation>("activation", "applied to the result"),
    };
  }
};

/// Layer normalisation along the last axis, for rows of any length k >= 1:
///   y = activation((x - mean) rstd scale + shift)
///   mean = sum x / k,  variance = sum (x - mean)^2 / k,  rstd = 1 / sqrt(variance + eps)
/// x, scale, shift, y: one dtype of f64, f32, f16, bf16. Arithmetic is f64 for f64, else f32, in two passes
/// over values held on chip, so that a large mean causes no cancellation. y may be x. A row with variance 0
/// gives shift if eps > 0, else NaN. The alias fused_layernorm_gelu has activation = gelu.
/// Source: Ba, Kiros & Hinton, arXiv:1607.06450.
extern const Op<LayerNormArgs> layer_norm;
extern const Alias<LayerNormArgs> fused_layernorm_gelu;

}  // namespace kolmo
