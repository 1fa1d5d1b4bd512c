#pragma once
#include "kolmo/base/activation.hpp"
#include "kolmo/op/op.hpp"

namespace kolmo {

enum class MatmulOutput : std::int32_t { same, f32 };

struct MatmulArgs {
  In a, b;
  OptIn c, bias;
  Out y;
  double alpha = 1, beta = 1;
  bool transpose_a = false, transpose_b = false;
  Activation activation = Activation::none;
  MatmulOutput output = MatmulOutput::same;

  static constexpr std::string_view output_names[] = {"same", "f32"};

  static constexpr auto fields() {
    using A = MatmulArgs;
    return std::tuple{
        Field{"a", &A::a, "... a0 a1", floats, "left factor, m k, or k m with transpose_a"},
        Field{"b", &A::b, "... b0 b1", floats, "right factor, k n, or n k with transpose_b"},
        Field{"c", &A::c, "... m n", floats, "summand, multiplied by beta"},
        Field{"bias", &A::bias, "n", floats, "summand of every row"},
        Field{"y", &A::y, "... m n", floats, "result"},
        Option{"alpha", &A::alpha, -unlimited, unlimited, "factor of the product"},
        Option{"beta", &A::beta, -unlimited, unlimited, "factor of c"},
        Option{"transpose_a", &A::transpose_a, 0, 1, "a is given transposed"},
        Option{"transpose_b", &A::transpose_b, 0, 1, "b is given transposed"},
        Choice{"activation", &A::activation, activation_names, "applied to the sum"},
        Choice{"output", &A::output, output_names, "dtype of y: that of the inputs, or f32"},
    };
  }
};

/// y = activation(alpha op(a) op(b) + beta c + bias) for each of the leading (batch) indices, which a, b, c
/// and y share (none is broadcast). op(a): m k; op(b): k n; c, y: m n; bias: n; op transposes where asked.
/// Dtypes: f64, f32, f16 or bf16, one for all inputs; y has the same, or f32. 16-bit inputs are multiplied
/// and summed in f32, and y is rounded once. Where alpha or beta is 0 its term is 0, whatever it multiplies;
/// k = 0 gives a product of 0. y may be c. Same bits from run to run on one device, variant and number of
/// threads. Source: Dongarra et al. 1990 (BLAS 3).
extern const Op<MatmulArgs> matmul;

}  // namespace kolmo
