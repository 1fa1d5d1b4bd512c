#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct SoftmaxArgs {
  In x;
  Out y;

  static constexpr auto fields() {
    return std::array{
        field<&SoftmaxArgs::x>("x", "... k", floats, "logits"),
        field<&SoftmaxArgs::y>("y", "... k", floats, "probabilities, each row sums to 1"),
    };
  }
};

/// y_i = exp(x_i - max x) / sum_j exp(x_j - max x) along the last axis, for rows of any length; does not
/// overflow. x and y: one dtype of f64, f32, f16, bf16; arithmetic is f64 for f64, else f32. y may be x.
/// exp(-inf) = 0. A row with NaN or inf, or of -inf only, becomes NaN. The alias fused_exp_normalize is the
/// same function.
/// Source: Bridle, NIPS 1989.
extern const Op<SoftmaxArgs> softmax;
extern const Alias<SoftmaxArgs> fused_exp_normalize;

}  // namespace kolmo
