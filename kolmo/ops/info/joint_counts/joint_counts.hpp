#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct ConditionalEntropyArgs {
  In joint;
  Out entropy;
  bool miller_madow = false;

  static constexpr auto fields() {
    using A = ConditionalEntropyArgs;
    return std::array{
        field<&A::joint>("joint", "... bx by", DTypes::of(DType::f64, DType::f32, DType::i64, DType::i32),
                         "joint counts or probabilities of x (rows) and y (columns)", Domain::count),
        field<&A::entropy>("entropy", "...", DTypes::of(DType::f64), "H(Y|X) of each table, in nats"),
        option<&A::miller_madow>("miller_madow", "add the bias correction (K_xy - K_x) / (2 N); for counts"),
    };
  }
};

/// Plug-in conditional entropy in nats:
///   H(Y|X) = - sum_xy p_xy ln(p_xy / p_x),  p_xy = n_xy / N
/// for any non-negative weights n_xy, which are divided by their sum N. histogram_2d computes `joint` from
/// samples. miller_madow corrects each term of H(X,Y) - H(X) by (K - 1) / (2 N), with K the number of its
/// bins above 0. The result is exactly 0 if x determines y. Computed in double; same bits on every device.
/// Faults of a table: a weight that is negative or not finite, or a sum beyond the range of double; weights that sum to 0;
/// unchecked, its result is NaN. Refused: tables without bins.
/// Sources: Cover & Thomas, Elements of Information Theory, section 2.2; Miller 1955.
extern const Op<ConditionalEntropyArgs> conditional_entropy;

struct MutualInformationArgs {
  In joint;
  Out information;
  bool miller_madow = false;

  static constexpr auto fields() {
    using A = MutualInformationArgs;
    return std::array{
        field<&A::joint>("joint", "... bx by", DTypes::of(DType::f64, DType::f32, DType::i64, DType::i32),
                         "joint counts or probabilities of x (rows) and y (columns)", Domain::count),
        field<&A::information>("information", "...", DTypes::of(DType::f64), "I(X;Y) of each table, in nats"),
        option<&A::miller_madow>("miller_madow",
                                 "add the bias correction (K_x + K_y - K_xy - 1) / (2 N); for counts"),
    };
  }
};

/// Plug-in mutual information in nats:
///   I(X;Y) = sum_xy p_xy ln(p_xy / (p_x p_y)),  p_xy = n_xy / N
/// for any non-negative weights n_xy, which are divided by their sum N. histogram_2d computes `joint` from
/// samples. miller_madow corrects each term of H(X) + H(Y) - H(X,Y) by (K - 1) / (2 N), with K the number of
/// its bins above 0; the result may then be negative. Without it, negative results of rounding are set to 0.
/// Computed in double; same bits on every device. Faults of a table: a weight that is negative or not finite, or a sum
/// beyond the range of double; weights that sum to 0; unchecked, its result is NaN. Refused: tables without bins.
/// Sources: Cover & Thomas, Elements of Information Theory, section 2.3; Miller 1955.
extern const Op<MutualInformationArgs> mutual_information;

}  // namespace kolmo
