#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct ConditionalEntropyArgs {
  In joint;
  Out entropy;
  bool miller_madow = false;

  static constexpr auto fields() {
    using A = ConditionalEntropyArgs;
    return std::tuple{
        Field{"joint", &A::joint, "... bx by", DTypes::of(DType::f64, DType::f32, DType::i64, DType::i32),
              "joint counts or probabilities of x (rows) and y (columns)", Domain::count},
        Field{"entropy", &A::entropy, "...", DTypes::of(DType::f64), "H(Y|X) of each table, in nats"},
        Option{"miller_madow", &A::miller_madow, 0, 1,
               "add the bias correction (K_xy - K_x) / (2 N); for counts"},
    };
  }
};

/// Plug-in conditional entropy in nats, H(Y|X) = - sum_xy p_xy ln(p_xy / p_x) with p_xy = n_xy / N: any
/// non-negative weights, divided by their sum N. From data in two steps: histogram_2d gives `joint`.
/// miller_madow corrects both of H(X,Y) - H(X) by (K - 1) / (2 N), K the number of bins above 0. Exactly 0
/// when x determines y. Computed in double; same bits on every device. NaN for a table with a negative or NaN
/// weight and for one that sums to 0. Source: Cover & Thomas, Elements of Information Theory, section 2.2;
/// Miller 1955.
extern const Op<ConditionalEntropyArgs> conditional_entropy;

}  // namespace kolmo
