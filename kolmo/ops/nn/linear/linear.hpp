#pragma once
#include "kolmo/base/activation.hpp"
#include "kolmo/op/op.hpp"

namespace kolmo {

enum class WeightLayout : std::int32_t { out_in, in_out };
inline constexpr std::string_view weight_layout_names[] = {"out_in", "in_out"};
constexpr std::span<const std::string_view> names_of(WeightLayout) { return weight_layout_names; }

struct LinearArgs {
  In x, weight;
  OptIn bias;
  Out y;
  Activation activation = Activation::none;
  WeightLayout layout = WeightLayout::out_in;

  static constexpr auto fields() {
    using A = LinearArgs;
    return std::array{
        field<&A::x>("x", "... k", floats, "rows of inputs"),
        field<&A::weight>("weight", "w0 w1", floats, "n k, or k n with layout in_out"),
        field<&A::bias>("bias", "n", floats, "added to every row"),
        field<&A::y>("y", "... n", floats, "rows of outputs"),
        option<&A::activation>("activation", "applied to the sum"),
        option<&A::layout>("layout", "whether a row of weights belongs to an output or to an input"),
    };
  }
};

/// y = activation(x W^T + bias) for every row of x. weight is W, n k as in torch.nn.Linear, or its transpose, k n,
/// with layout in_out. Any leading (batch) dimensions. One dtype of f64, f32, f16, bf16; 16-bit inputs are
/// multiplied and summed in f32, and y is rounded once, after the activation. k = 0 gives activation(bias). y
/// overlaps no input. Same bits from run to run on one device, variant and number of threads.
/// Bias and activation are the epilogue of matmul: y is written once, and never read. Aliases:
/// fused_linear_relu and fused_linear_gelu (exact gelu) with W as n k, fused_matmul_relu with k n.
/// Source: Goodfellow, Bengio & Courville 2016, chapter 6.
extern const Op<LinearArgs> linear;
extern const Alias<LinearArgs> fused_linear_relu, fused_linear_gelu, fused_matmul_relu;

}  // namespace kolmo
