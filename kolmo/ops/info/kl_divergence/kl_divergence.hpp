#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct KlDivergenceArgs {
  In p, q;
  Out divergence;

  static constexpr auto fields() {
    using A = KlDivergenceArgs;
    return std::tuple{
        Field{"p", &A::p, "... k", reals, "probabilities", Domain::probability},
        Field{"q", &A::q, "... k", reals, "probabilities p is compared with", Domain::probability},
        Field{"divergence", &A::divergence, "...", DTypes::of(DType::f64), "KL(p||q) of each row, in nats"},
    };
  }
};

/// KL(p||q) = sum_i p_i ln(p_i / q_i) in nats along the last axis, with 0 ln 0 = 0; inf when some q_i = 0 <
/// p_i. p and q are taken as they are, not normalised (so the result may be negative if they do not sum to
/// 1); NaN for a row with a negative or NaN entry. Computed in double; same bits on every device. Source:
/// Kullback & Leibler 1951.
extern const Op<KlDivergenceArgs> kl_divergence;

}  // namespace kolmo
