#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct CategoricalSampleArgs {
  In weight;
  Out index;
  std::int64_t n = 1, offset = 0;
  std::uint64_t seed = 0;

  static constexpr auto fields() {
    using A = CategoricalSampleArgs;
    return std::array{
        field<&A::weight>("weight", "... k", reals, "probabilities of k categories, up to a factor",
                          Domain::probability),
        field<&A::index>("index", "... n", DTypes::of(DType::i64), "categories drawn, from 0 to k - 1"),
        option<&A::n>("n", 0, std::int64_t(1) << 40, "draws from each row, with replacement"),
        option<&A::seed>("seed", "which sequence"),
        option<&A::offset>("offset", 0, std::int64_t(1) << 60, "place of the first draw in the sequence"),
    };
  }
};

/// Draws index = i with probability weight_i / sum_j weight_j from each row, n times, independently. Draw j of
/// row r inverts the distribution function at u_e, the element e = offset + r n + j of random_uniform in f64 of
/// the seed: the first i with c_i > u_e c_(k-1), where c_i = sum of weight_0 ... weight_i in double, added in an
/// order fixed by k. A weight of 0 is never drawn, and the draws are the same on every device. Faults: a
/// weight that is negative or not finite; a row whose sum is 0 or overflows. Its draws are then -1.
/// Source: Devroye, Non-Uniform Random Variate Generation, 1986, III.2.
extern const Op<CategoricalSampleArgs> categorical_sample;

}  // namespace kolmo
