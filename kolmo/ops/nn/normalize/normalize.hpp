#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

/// By what a row is divided: the sum of its elements, the sum of their magnitudes, the root of the sum of
/// their squares, or the largest magnitude.
enum class RowNorm : std::int32_t { sum, l1, l2, max };
inline constexpr std::string_view row_norm_names[] = {"sum", "l1", "l2", "max"};
constexpr std::span<const std::string_view> names_of(RowNorm) { return row_norm_names; }

struct NormalizeArgs {
  In x;
  Out y;
  RowNorm norm = RowNorm::sum;

  static constexpr auto fields() {
    using A = NormalizeArgs;
    return std::array{
        field<&A::x>("x", "... k", floats, "rows"),
        field<&A::y>("y", "... k", floats, "rows divided by their norms").may_be_infinite(),
        option<&A::norm>("norm", "sum of elements or of magnitudes, Euclidean norm, largest magnitude"),
    };
  }
};

/// y_i = x_i / norm along the last axis, with 0 / 0 = 0, so that rows of zeros stay zero:
///   sum: sum_j x_j,  l1: sum_j |x_j|,  l2: sqrt(sum_j x_j^2),  max: max_j |x_j|
/// x, y: one dtype of f64, f32, f16, bf16; rows of any length. Arithmetic is f64 for f64, else f32. y may be
/// x. l2 neither overflows nor underflows where its result does not. norm=sum: a row that cancels to 0 but is
/// not zero becomes infinite. A NaN makes its row NaN, and so does an infinite element with l2; with other
/// norms infinite elements become NaN and the others 0.
extern const Op<NormalizeArgs> normalize;

}  // namespace kolmo
