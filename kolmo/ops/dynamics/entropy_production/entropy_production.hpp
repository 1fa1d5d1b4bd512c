#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct EntropyProductionArgs {
  In rates;
  OptIn p;
  Out production;

  static constexpr auto fields() {
    using A = EntropyProductionArgs;
    return std::array{
        field<&A::rates>("rates", "... n n", reals, "W_ij from state i to j; without p, fluxes p_i W_ij",
                         Domain::positive),
        field<&A::p>("p", "... n", reals, "probability of each state", Domain::probability),
        field<&A::production>("production", "...", DTypes::of(DType::f64),
                              "entropy production, in nats per step or unit of time")
            .may_be_infinite(),
    };
  }
};

/// Rate at which a Markov process produces entropy, in nats per unit of time (rates W) or per step (transition
/// probabilities W):
///   sigma = sum over pairs i < j of (p_i W_ij - p_j W_ji) ln(p_i W_ij / (p_j W_ji)) >= 0
/// 0 where both fluxes are 0, infinite where one alone is; 0 in all if and only if detailed balance holds. The
/// diagonal does not count. p is stationary in the usual case, and then this is all entropy production; it is
/// used as it is. Without p, `rates` holds the fluxes p_i W_ij themselves, such as frequencies of observed
/// transitions, or one-way phase currents. Computed in double; same bits on every device. Fault of a process: fluxes of a
/// pair that are negative, NaN or both infinite. Unchecked, its result is NaN.
/// Source: Schnakenberg, Rev. Mod. Phys. 48, 1976, equation 7.6.
extern const Op<EntropyProductionArgs> entropy_production;

}  // namespace kolmo
