#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct WeightsGramArgs {
  In weights;
  OptIn base;
  Out gram;

  static constexpr auto fields() {
    using A = WeightsGramArgs;
    return std::array{
        field<&A::weights>("weights", "... m n", floats, "m vectors, such as snapshots of a training"),
        field<&A::base>("base", "... n", floats, "subtracted from each vector, such as the last of them"),
        field<&A::gram>("gram", "... m m", DTypes::of(DType::f64), "their inner products"),
    };
  }
};

/// Gram matrix of m flat vectors: gram_ij = sum_t (w_it - b_t) (w_jt - b_t), with b = 0 if `base` is left out. It is what least
/// squares, a projection or an extrapolation in the span of the vectors needs of them. weights and base: one dtype of f64, f32,
/// f16, bf16. Differences, products and sums are computed in double; the order of summation depends on n alone (base/sums.hpp),
/// so that the bits are the same on every device, and the matrix is exactly symmetric:
///   |error| <= (28 + n / 2^19) 2^-53 sum_t |w_it - b_t| |w_jt - b_t|
/// Each vector is read from memory once if m <= 4; above, neighbouring warps read it again, from the cache. n = 0 gives zeros.
/// Source: Higham, SIAM J. Sci. Comput. 1993 (pairwise sums).
extern const Op<WeightsGramArgs> weights_gram;

}  // namespace kolmo
