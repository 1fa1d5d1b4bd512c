#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct ReduceSumArgs {
  In x;
  Out sum;

  static constexpr auto fields() {
    return std::array{
        field<&ReduceSumArgs::x>("x", "... k", floats, "terms"),
        field<&ReduceSumArgs::sum>("sum", "...", floats, "sum of each row"),
    };
  }
};

/// sum = sum_i x_i along the last axis; 0 for k = 0. x and sum: one dtype of f64, f32, f16, bf16.
/// The terms are added in double in an order fixed by k alone (base/sums.hpp), so the bits are the same on
/// every device, variant and number of threads. The sum is rounded to the dtype once:
///   |error| <= ulp / 2 + (24 + k / 2^19) 2^-53 sum |x_i|
/// Overflow of the dtype gives inf.
/// Source: Higham, "The accuracy of floating point summation", SIAM J. Sci. Comput. 1993 (pairwise sums).
extern const Op<ReduceSumArgs> reduce_sum;

}  // namespace kolmo
