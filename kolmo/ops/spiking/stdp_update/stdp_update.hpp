#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct StdpUpdateArgs {
  In pre, post;
  InOut weight, pre_trace, post_trace;
  double dt = 1e-4, tau_plus = 0.02, tau_minus = 0.02, a_plus = 0.01, a_minus = 0.0105, low = 0, high = 1;

  static constexpr auto fields() {
    using A = StdpUpdateArgs;
    constexpr DTypes boolean = DTypes::of(DType::boolean);
    return std::array{
        field<&A::pre>("pre", "... m", boolean, "which presynaptic neurons fire in this step", Domain::mask),
        field<&A::post>("post", "... n", boolean, "which postsynaptic neurons fire in this step",
                        Domain::mask),
        field<&A::weight>("weight", "... m n", reals, "of the synapse from each to each, before and after",
                          Domain::unit),
        field<&A::pre_trace>("pre_trace", "... m", reals, "traces of presynaptic spikes, before and after",
                             Domain::unit),
        field<&A::post_trace>("post_trace", "... n", reals, "traces of postsynaptic spikes, before and after",
                              Domain::unit),
        option<&A::dt>("dt", 0, unlimited, "length of a step, in s"),
        option<&A::tau_plus>("tau_plus", 0, unlimited, "time constant of presynaptic traces, in s; above 0"),
        option<&A::tau_minus>("tau_minus", 0, unlimited,
                              "time constant of postsynaptic traces, in s; above 0"),
        option<&A::a_plus>("a_plus",
                           "change of a weight by a pair that coincides, the presynaptic spike first"),
        option<&A::a_minus>("a_minus", "decrease by a pair in which the postsynaptic spike came first"),
        option<&A::low>("low", "lower bound of the weights"),
        option<&A::high>("high", "upper bound of the weights"),
    };
  }
};

/// A step of spike-timing-dependent plasticity. By means of traces, every pair of spikes of a synapse from i to j counts.
/// The step updates in this order, as Brian2 does:
///   x_i <- x_i e^(-dt / tau_plus), y_j <- y_j e^(-dt / tau_minus)
///   where i fires: x_i <- x_i + 1, w_ij <- clip(w_ij - a_minus y_j)
///   where j fires: y_j <- y_j + 1, w_ij <- clip(w_ij + a_plus x_i)
/// with clip(w) = min(max(w, low), high). Spikes a time T apart therefore change w by a_plus
/// e^(-T / tau_plus) if i fired first or both at once, and by -a_minus e^(-T / tau_minus) if j did. Weights
/// of silent synapses are neither changed nor clipped. weight, pre_trace (x), post_trace (y): one dtype of
/// f64, f32, in which all is computed; updated in place. Same bits on every device.
/// Sources: Song, Miller & Abbott, Nat. Neurosci. 3, 2000; Morrison, Diesmann & Gerstner, Biol. Cybern. 98, 2008.
extern const Op<StdpUpdateArgs> stdp_update;

}  // namespace kolmo
