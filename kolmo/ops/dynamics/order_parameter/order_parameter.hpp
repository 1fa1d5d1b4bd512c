#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct OrderParameterArgs {
  In theta;
  Out r, psi;

  static constexpr auto fields() {
    using A = OrderParameterArgs;
    return std::array{
        field<&A::theta>("theta", "... n", reals, "phases, in radians"),
        field<&A::r>("r", "...", DTypes::of(DType::f64), "coherence, from 0 to 1"),
        field<&A::psi>("psi", "...", DTypes::of(DType::f64), "mean phase, in radians, from -pi to pi"),
    };
  }
};

/// Kuramoto's order parameter along the last axis: r e^{i psi} = (1/n) sum_j e^{i theta_j}. psi is arbitrary
/// where r is 0 up to rounding. Computed in double; NaN for a row without phases, or with one that is not
/// finite. Same bits from run to run.
/// Source: Kuramoto, Chemical Oscillations, Waves, and Turbulence, 1984.
extern const Op<OrderParameterArgs> order_parameter;

}  // namespace kolmo
