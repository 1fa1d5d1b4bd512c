#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct LeakyIntegrateFireArgs {
  In current;
  InOut potential, waiting;
  Out spike;
  double dt = 1e-4, tau = 0.01, resistance = 1, rest = 0, threshold = 1, reset = 0, refractory = 0;

  static constexpr auto fields() {
    using A = LeakyIntegrateFireArgs;
    return std::array{
        field<&A::current>("current", "t ...", reals, "input current at each of t steps, in A"),
        field<&A::potential>("potential", "...", reals, "membrane potentials before and after, in V"),
        field<&A::waiting>("waiting", "...", DTypes::of(DType::i32),
                           "steps of the refractory period that are left, before and after", Domain::count),
        field<&A::spike>("spike", "t ...", DTypes::of(DType::boolean),
                         "whether the neuron fires at each step"),
        option<&A::dt>("dt", 0, unlimited, "length of a step, in s"),
        option<&A::tau>("tau", 0, unlimited, "time constant of the membrane, in s; above 0"),
        option<&A::resistance>("resistance", "of the membrane, in Ohm"),
        option<&A::rest>("rest", "resting potential, in V"),
        option<&A::threshold>("threshold", "potential above which a neuron fires, in V"),
        option<&A::reset>("reset", "potential after a spike, in V"),
        option<&A::refractory>("refractory", 0, unlimited, "time from a spike to the next update, in s"),
    };
  }
};

/// Takes t steps of leaky integrate-and-fire neurons. In each step, for each neuron:
///   waiting > 0: waiting <- waiting - 1, and the potential V stays
///   else V <- V + dt / tau (-(V - rest) + resistance I), Euler's step; if then V > threshold, it fires:
///     V <- reset, waiting <- round(refractory / dt) - 1, at least 0
/// The potential is updated again when `refractory` has passed since the spike, as in Brian2 (`unless
/// refractory`, method euler). current, potential: one dtype of f64, f32, in which all is computed. Calls
/// continue each other: t steps in one call or several give the same. Same bits on every device. potential
/// and waiting are updated in place.
/// Source: Gerstner et al., Neuronal Dynamics, 2014, section 1.3; Stimberg, Brette & Goodman, eLife 2019.
extern const Op<LeakyIntegrateFireArgs> leaky_integrate_fire;

}  // namespace kolmo
