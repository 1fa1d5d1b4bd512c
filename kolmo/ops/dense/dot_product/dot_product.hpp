#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct DotProductArgs {
  In x, y;
  Out dot;

  static constexpr auto fields() {
    return std::tuple{
        Field{"x", &DotProductArgs::x, "... k", floats, "first vector of each pair"},
        Field{"y", &DotProductArgs::y, "... k", floats, "second vector of each pair"},
        Field{"dot", &DotProductArgs::dot, "...", floats, "their dot product"},
    };
  }
};

/// dot = sum_i x_i y_i along the last axis; 0 for k = 0. x, y and dot: one dtype of f64, f32, f16, bf16.
/// Products and sums are taken in double (products exactly but for f64) in an order fixed by k alone
/// (base/sums.hpp), so the bits are the same on every device, variant and number of threads, and the result
/// is rounded to the dtype once: within half an ulp of the exact one plus (25 + k / 2^19) 2^-53 sum |x_i
/// y_i|. Overflow of the dtype gives inf. Source: Higham, SIAM J. Sci. Comput. 1993 (pairwise sums).
extern const Op<DotProductArgs> dot_product;

}  // namespace kolmo
