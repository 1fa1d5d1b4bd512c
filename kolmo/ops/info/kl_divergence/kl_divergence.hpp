#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct KlDivergenceArgs {
  In p, q;
  Out divergence;

  static constexpr auto fields() {
    using A = KlDivergenceArgs;
    return std::array{
        field<&A::p>("p", "... k", reals, "probabilities", Domain::probability),
        field<&A::q>("q", "... k", reals, "probabilities p is compared with", Domain::probability),
        field<&A::divergence>("divergence", "...", DTypes::of(DType::f64), "KL(p||q) of each row, in nats")
            .may_be_infinite(),
    };
  }
};

/// Kullback-Leibler divergence along the last axis, in nats:
///   KL(p||q) = sum_i p_i ln(p_i / q_i),  0 ln 0 = 0;  inf if q_i = 0 < p_i for some i
/// p and q are not normalised, so the result may be negative if they do not sum to 1. Computed in double; same bits on
/// every device. Fault of a row: an entry that is negative or NaN, or infinite with p_i > 0. Unchecked, its result is NaN.
/// Source: Kullback & Leibler 1951.
extern const Op<KlDivergenceArgs> kl_divergence;

}  // namespace kolmo
