#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct MutualInformationArgs {
  In joint;
  Out information;
  bool miller_madow = false;

  static constexpr auto fields() {
    using A = MutualInformationArgs;
    return std::tuple{
        Field{"joint", &A::joint, "... bx by", DTypes::of(DType::f64, DType::f32, DType::i64, DType::i32),
              "joint counts or probabilities of x (rows) and y (columns)", Domain::count},
        Field{"information", &A::information, "...", DTypes::of(DType::f64), "I(X;Y) of each table, in nats"},
        Option{"miller_madow", &A::miller_madow, 0, 1,
               "add the bias correction (K_x + K_y - K_xy - 1) / (2 N); for counts"},
    };
  }
};

/// Plug-in mutual information in nats, I(X;Y) = sum_xy p_xy ln(p_xy / (p_x p_y)) with p_xy = n_xy / N: any
/// non-negative weights, divided by their sum N. From data in two steps: histogram_2d gives `joint`.
/// miller_madow corrects each of H(X) + H(Y) - H(X,Y) by (K - 1) / (2 N), K the number of bins above 0; the
/// result may then be negative. Without it, rounding below 0 is cut off. Computed in double; same bits on
/// every device. NaN for a table with a negative or NaN weight and for one that sums to 0. Source: Cover &
/// Thomas, Elements of Information Theory, section 2.3; Miller 1955.
extern const Op<MutualInformationArgs> mutual_information;

}  // namespace kolmo
