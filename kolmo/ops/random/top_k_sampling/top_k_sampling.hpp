#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct TopKSamplingArgs {
  In logits;
  Out index;
  OptOut probability;
  double temperature = 1, top_p = 1;
  std::int64_t top_k = 0, n = 1, offset = 0;
  std::uint64_t seed = 0;

  static constexpr auto fields() {
    using A = TopKSamplingArgs;
    return std::array{
        field<&A::logits>("logits", "... v", floats, "a logit for each of v words, at most 2^22"),
        field<&A::index>("index", "... n", DTypes::of(DType::i64), "words drawn, from 0 to v - 1"),
        field<&A::probability>("probability", "... n", DTypes::of(DType::f64),
                               "probability of each, among the words that may be drawn"),
        option<&A::temperature>("temperature", 0, unlimited, "divides the logits; above 0"),
        option<&A::top_k>("top_k", 0, std::int64_t(1) << 40, "only the top_k largest may be drawn; 0: all"),
        option<&A::top_p>("top_p", 0, 1,
                          "of these the fewest, the likeliest first, that hold this share; above 0"),
        option<&A::n>("n", 0, std::int64_t(1) << 40, "draws from each row, with replacement"),
        option<&A::seed>("seed", "which sequence"),
        option<&A::offset>("offset", 0, std::int64_t(1) << 60, "place of the first draw in the sequence"),
    };
  }
};

/// Draws words with probabilities p_i = w_i / sum_j w_j over those that may be drawn, w_i = exp((l_i - max l) /
/// temperature). Words are ordered by logit, the largest first, equal ones by number. The first top_k may be
/// drawn; of these the shortest beginning whose w sum to at least top_p of theirs. top_k = 1 takes the largest.
/// Weights are rounded down to multiples of 2^-41, so a word 9e11 times less likely than the likeliest is never
/// drawn; all else is done in integers: every device draws the same. Draw j of row r uses the 64-bit Philox
/// word offset + r n + j of the seed, and the words that may be drawn in order of their numbers.
/// A logit of -inf is never drawn. Faults: NaN or +inf; a row of -inf only. Its index is -1, probability NaN.
/// Sources: Fan, Lewis & Dauphin, ACL 2018; Holtzman et al., ICLR 2020 (top_p).
extern const Op<TopKSamplingArgs> top_k_sampling;

}  // namespace kolmo
