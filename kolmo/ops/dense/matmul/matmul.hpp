#pragma once
#include <limits>

#include "kolmo/base/activation.hpp"
#include "kolmo/op/op.hpp"

namespace kolmo {

enum class MatmulOutput : std::int32_t { same, f32 };
inline constexpr std::string_view matmul_output_names[] = {"same", "f32"};
constexpr std::span<const std::string_view> names_of(MatmulOutput) { return matmul_output_names; }

struct MatmulArgs {
  In a, b;
  OptIn c, bias;
  Out y;
  double alpha = 1, beta = 1;
  bool transpose_a = false, transpose_b = false;
  Activation activation = Activation::none;
  MatmulOutput output = MatmulOutput::same;
  double accuracy = 1;

  static constexpr auto fields() {
    using A = MatmulArgs;
    return std::array{
        field<&A::a>("a", "... a0 a1", floats, "left factor, m k, or k m with transpose_a"),
        field<&A::b>("b", "... b0 b1", floats, "right factor, k n, or n k with transpose_b"),
        field<&A::c>("c", "... m n", floats, "summand, multiplied by beta"),
        field<&A::bias>("bias", "n", floats, "summand of every row"),
        field<&A::y>("y", "... m n", floats.as("Y"), "result"),
        option<&A::alpha>("alpha", "factor of the product"),
        option<&A::beta>("beta", "factor of c"),
        option<&A::transpose_a>("transpose_a", "a is given transposed"),
        option<&A::transpose_b>("transpose_b", "b is given transposed"),
        option<&A::activation>("activation", "applied to the sum"),
        option<&A::output>("output", "dtype of y: that of the inputs, or f32"),
        option<&A::accuracy>(
            "accuracy", 1., std::numeric_limits<double>::infinity(),
            "how many times the error bound of products in the dtype of the inputs is allowed; from 4 on "
            "f32 may be multiplied by tensor cores"),
    };
  }
};

/// y = activation(alpha op(a) op(b) + beta c + bias) for each of the leading (batch) indices, which a, b, c
/// and y share (none is broadcast). op transposes if transpose_a or transpose_b is set.
///   op(a): m k    op(b): k n    c, y: m n    bias: n
/// Dtypes: f64, f32, f16 or bf16, one for all inputs; y has the same, or f32. 16-bit inputs are multiplied
/// and summed in f32, and y is rounded once. If alpha or beta is 0 its term is 0, even for NaN and
/// infinities. k = 0 gives a product of 0. y may be c. Same bits from run to run on one device, variant and
/// number of threads. accuracy: allowed are errors of y before its activation of so many times
///   (k + 3) u |alpha| sum |op(a)| |op(b)|    u = 2^-24 for f32
/// At 4 or more, variants of f32 may sum six products of bf16 on tensor cores; their infinite factors give infinities or NaN.
/// Source: Dongarra et al. 1990 (BLAS 3).
extern const Op<MatmulArgs> matmul;
extern const Alias<MatmulArgs> tensor_core_matmul, tensor_core_matmul_wmma;

}  // namespace kolmo
