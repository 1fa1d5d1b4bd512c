#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

/// The kind of weights of a distribution. Counts are divided by their sum; probabilities are used unchanged.
enum class WeightKind : std::int32_t { counts, probabilities };
inline constexpr std::string_view weight_kind_names[] = {"counts", "probabilities"};
constexpr std::span<const std::string_view> names_of(WeightKind) { return weight_kind_names; }
inline constexpr DTypes weight_dtypes = DTypes::of(DType::f64, DType::f32, DType::i64, DType::i32);

struct ShannonEntropyArgs {
  In weights;
  Out entropy;
  WeightKind kind = WeightKind::counts;
  bool miller_madow = false;

  static constexpr auto fields() {
    using A = ShannonEntropyArgs;
    return std::array{
        field<&A::weights>("weights", "... k", weight_dtypes, "counts or probabilities", Domain::count),
        field<&A::entropy>("entropy", "...", DTypes::of(DType::f64), "entropy of each row, in nats"),
        option<&A::kind>("kind", "counts are divided by their sum, probabilities are not"),
        option<&A::miller_madow>("miller_madow", "add the bias correction (K - 1) / (2 N); counts only"),
    };
  }
};

/// Plug-in entropy in nats along the last axis, with 0 ln 0 = 0:
///   counts           H = - sum_i (n_i / N) ln(n_i / N),  N = sum_i n_i   (any non-negative weights)
///   probabilities    H = - sum_i p_i ln p_i, not normalised
/// miller_madow adds (K - 1) / (2 N) with K the number of n_i > 0. Computed in double for every dtype; same
/// bits on every device. Faults of a row: a weight that is negative or not finite, or a sum beyond the range of double;
/// counts that sum to 0; unchecked, its result is NaN, or infinite for infinite probabilities. Refused: k = 0 counts.
/// Sources: Shannon 1948; Miller, Note on the bias of information estimates, 1955.
extern const Op<ShannonEntropyArgs> shannon_entropy;

}  // namespace kolmo
