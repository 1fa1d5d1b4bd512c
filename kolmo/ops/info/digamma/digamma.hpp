#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct DigammaArgs {
  In x;
  Out y;

  static constexpr auto fields() {
    return std::tuple{
        Field{"x", &DigammaArgs::x, "...", reals, "arguments", Domain::positive},
        Field{"y", &DigammaArgs::y, "...", reals, "psi(x)"},
    };
  }
};

/// y = psi(x) = d/dx ln Gamma(x), element by element. x, y: any shape, f64 or f32; y may be x.
/// For x > 0 |error| <= 8e-16 max(1, |psi(x)|); for x < 0 by reflection, psi(1 - x) - pi cot(pi x), |error|
/// <= 2e-15 times the largest of 1 and those two terms. f32 is computed in double and rounded once. NaN at
/// the poles 0, -1, -2, ... and at -inf; psi(inf) = inf. Same bits on every device (base/digamma.hpp).
/// Source: Abramowitz & Stegun, section 6.3.
extern const Op<DigammaArgs> digamma;

}  // namespace kolmo
