#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct DotProductArgs {
  In x, y;
  Out dot;

  static constexpr auto fields() {
    return std::array{
        field<&DotProductArgs::x>("x", "... k", floats, "first vector of each pair"),
        field<&DotProductArgs::y>("y", "... k", floats, "second vector of each pair"),
        field<&DotProductArgs::dot>("dot", "...", floats, "their dot product"),
    };
  }
};

/// dot = sum_i x_i y_i along the last axis; 0 for k = 0. x, y and dot: one dtype of f64, f32, f16, bf16.
/// Products and sums are computed in double; products are exact except for f64. The order of summation
/// depends on k alone (base/sums.hpp), so the bits are the same on every device, variant and number of
/// threads. The result is rounded to the dtype once:
///   |error| <= ulp / 2 + (25 + k / 2^19) 2^-53 sum |x_i y_i|
/// Overflow of the dtype gives inf.
/// Source: Higham, SIAM J. Sci. Comput. 1993 (pairwise sums).
extern const Op<DotProductArgs> dot_product;

}  // namespace kolmo
