#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct DigammaArgs {
  In x;
  Out y;

  static constexpr auto fields() {
    return std::array{
        field<&DigammaArgs::x>("x", "...", reals, "arguments", Domain::positive),
        field<&DigammaArgs::y>("y", "...", reals, "psi(x)"),
    };
  }
};

/// y = psi(x) = d/dx ln Gamma(x), element by element. x, y: any shape, f64 or f32; y may be x.
///   x > 0    |error| <= 8e-16 max(1, |psi(x)|)
///   x < 0    |error| <= 2e-15 max(1, |psi(1 - x)|, |pi cot(pi x)|), by reflection: psi(1 - x) - pi cot(pi x)
/// f32 is computed in double and rounded once. NaN at the poles 0, -1, -2, ... and at -inf; psi(inf) = inf.
/// Same bits on every device (base/digamma.hpp).
/// Source: Abramowitz & Stegun, section 6.3.
extern const Op<DigammaArgs> digamma;

}  // namespace kolmo
