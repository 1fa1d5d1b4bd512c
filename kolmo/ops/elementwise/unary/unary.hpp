#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct UnaryArgs {
  In x;
  Out y;

  static constexpr auto fields() {
    using A = UnaryArgs;
    return std::array{
        field<&A::x>("x", "...", floats, "argument"),
        field<&A::y>("y", "...", floats, "value of the function"),
    };
  }
};

/// y = e^x, element by element. x and y: any one shape, one dtype of f64, f32, f16, bf16; 16-bit results are
/// computed in float and rounded once. y may be x. Within 3 ulp of the dtype, subnormal results included;
/// beyond its range inf or 0. NaN stays NaN.
extern const Op<UnaryArgs> elementwise_exp;

/// y = max(x, 0), element by element; exact. NaN stays NaN. Otherwise as elementwise_exp.
extern const Op<UnaryArgs> relu;

/// y = 1 / (1 + e^-x), element by element, without overflow for any x: relative error below 5 ulp also where
/// y is near 0. Otherwise as elementwise_exp.
extern const Op<UnaryArgs> sigmoid;

/// y = tanh x, element by element. Relative error below 8 ulp, near 0 too. Otherwise as elementwise_exp.
extern const Op<UnaryArgs> tanh;

/// How gelu is computed: by the error function, or by the approximation with tanh.
enum class GeluForm : std::int32_t { erf, tanh };
inline constexpr std::string_view gelu_form_names[] = {"erf", "tanh"};
constexpr std::span<const std::string_view> names_of(GeluForm) { return gelu_form_names; }

struct GeluArgs {
  In x;
  Out y;
  GeluForm form = GeluForm::erf;

  static constexpr auto fields() {
    using A = GeluArgs;
    return std::array{
        field<&A::x>("x", "...", floats, "argument"),
        field<&A::y>("y", "...", floats, "value of the function"),
        option<&A::form>("form", "exact, by the error function, or approximate, by tanh"),
    };
  }
};

/// y = x Phi(x) = x erfc(-x / sqrt 2) / 2 with form=erf, element by element; with form=tanh
///   y = x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, within 5e-4 of it.
/// Shapes, dtypes and aliasing as elementwise_exp. Far below 0, y keeps its leading digits: its relative
/// error is a few ulp times 1 + x^2. gelu(-inf) is NaN.
/// Source: Hendrycks & Gimpel, arXiv:1606.08415.
extern const Op<GeluArgs> gelu;

}  // namespace kolmo
