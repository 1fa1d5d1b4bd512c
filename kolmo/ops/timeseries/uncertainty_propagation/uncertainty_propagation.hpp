#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct UncertaintyPropagationArgs {
  In x, covariance, transition, process_noise;
  Out mean, variance, covariance_end;
  OptOut lower, upper;
  std::int64_t horizon = 1;
  double level = 0.95;

  static constexpr auto fields() {
    using A = UncertaintyPropagationArgs;
    constexpr Domain spd = Domain::symmetric_positive_definite;
    return std::array{
        field<&A::x>("x", "... n", reals, "state now"),
        field<&A::covariance>("covariance", "... n n", reals, "P, its covariance", spd),
        field<&A::transition>("transition", "...? n n", reals, "F"),
        field<&A::process_noise>("process_noise", "...? n n", reals, "Q, added in each step", spd),
        field<&A::mean>("mean", "... horizon n", reals, "expected states after 1, 2, ... steps"),
        field<&A::variance>("variance", "... horizon n", reals, "variances of their components"),
        field<&A::covariance_end>("covariance_end", "... n n", reals, "covariance after the last step"),
        field<&A::lower>("lower", "... horizon n", reals, "lower ends of the prediction intervals"),
        field<&A::upper>("upper", "... horizon n", reals, "upper ends of the prediction intervals"),
        option<&A::horizon>("horizon", 1, 1'000'000'000, "number of steps"),
        option<&A::level>("level", 0.0, 1 - 0x1p-40, "probability of a prediction interval"),
    };
  }
};

/// Forecast of a linear system x' = F x + w, w of covariance Q, from a state of covariance P:
///   x_h = F x_(h-1),  P_h = F P_(h-1) F' + Q,  variance_h = diag P_h,  interval x_h +- z sqrt(variance_h)
/// with z the two-sided quantile of the normal distribution for `level`. F and Q are given once or for each
/// item of the batch. f64 or f32; computed in double, with each result rounded once; P is symmetric to the
/// bit. Only the upper triangles of P and Q are read. Same bits from run to run. Fault, with the number of
/// the item: a variance that is NaN, or negative beyond rounding (which is set to 0), in P, Q or any P_h.
/// Unchecked, its interval is NaN. For an autoregressive model see ar_forecast.
/// Source: Jazwinski, Stochastic Processes and Filtering Theory, 1970.
extern const Op<UncertaintyPropagationArgs> uncertainty_propagation;

}  // namespace kolmo
