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
    return std::tuple{
        Field{"x", &A::x, "... k", floats, "rows to normalise"},
        Field{"scale", &A::scale, "k", floats, "factor of each column, 1 if left out"},
        Field{"shift", &A::shift, "k", floats, "summand of each column, 0 if left out"},
        Field{"y", &A::y, "... k", floats, "activation((x - mean) rstd scale + shift)"},
        Field{"mean", &A::mean, "...", f64, "mean of each row"},
        Field{"rstd", &A::rstd, "...", f64, "1 / sqrt(variance + eps) of each row"},
        Option{"eps", &A::eps, 0, unlimited, "added to the variance, in units of x squared"},
        Choice{"activation", &A::activation, activation_names, "applied to the result"},
    };
  }
};

/// y = activation((x - mean) rstd scale + shift) along the last axis, with mean = sum x / k,
/// rstd = 1 / sqrt(variance + eps), variance = sum (x - mean)^2 / k, for rows of any length k >= 1.
/// x, scale, shift, y: one dtype of f64, f32, f16, bf16; arithmetic is f64 for f64, else f32, in two passes
/// over values held on chip, so that a large mean does not cancel. y may be x. A row without variance gives
/// shift if eps > 0, else NaN. The alias fused_layernorm_gelu has activation = gelu.
/// Source: Ba, Kiros & Hinton, arXiv:1607.06450.
extern const Op<LayerNormArgs> layer_norm;

}  // namespace kolmo
