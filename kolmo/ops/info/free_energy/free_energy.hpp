#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct FreeEnergyArgs {
  In q, p, log_likelihood;
  Out free_energy;
  OptOut complexity, accuracy;

  static constexpr auto fields() {
    using A = FreeEnergyArgs;
    constexpr DTypes f64 = DTypes::of(DType::f64);
    return std::array{
        field<&A::q>("q", "... k", reals, "beliefs about k states", Domain::probability),
        field<&A::p>("p", "... k", reals, "prior probabilities of the states", Domain::probability),
        field<&A::log_likelihood>("log_likelihood", "... k", reals,
                                  "ln p(o|s) of what was observed, given each state, in nats"),
        field<&A::free_energy>("free_energy", "...", f64, "variational free energy, in nats")
            .may_be_infinite(),
        field<&A::complexity>("complexity", "...", f64, "KL(q||p), in nats").may_be_infinite(),
        field<&A::accuracy>("accuracy", "...", f64, "E_q[ln p(o|s)], in nats").may_be_infinite(),
    };
  }
};

/// Variational free energy of categorical beliefs q about states s, along the last axis, in nats:
///   F = complexity - accuracy = KL(q||p) - E_q[ln p(o|s)]
///   KL(q||p) = sum_s q_s ln(q_s / p_s),  E_q[ln p(o|s)] = sum_s q_s ln p(o|s);  terms with q_s = 0 are 0
/// F >= -ln p(o) = -ln sum_s p_s p(o|s), with equality where q is the posterior. F is inf if q_s > 0 where
/// p_s = 0 or ln p(o|s) = -inf. q and p are not normalised. Computed in double; same bits on every device. Faults
/// of a row: a probability that is negative or NaN, or infinite with q_s > 0; a log-likelihood that is NaN, or +inf with
/// q_s > 0. Unchecked, its F is NaN.
/// Source: Parr, Pezzulo & Friston, Active Inference, MIT Press 2022, eq. 2.5.
extern const Op<FreeEnergyArgs> free_energy;

}  // namespace kolmo
