#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

enum class Dendrite : std::int32_t { sigmoid, nmda, back_propagation, multiplicative };
inline constexpr std::string_view dendrite_names[] = {"sigmoid", "nmda", "back_propagation",
                                                      "multiplicative"};
constexpr std::span<const std::string_view> names_of(Dendrite) { return dendrite_names; }

struct DendriticIntegrationArgs {
  In input, weights;
  Out soma;
  OptOut branches;
  Dendrite nonlinearity = Dendrite::sigmoid;
  double threshold = 0, steepness = 1, magnesium = 1, reversal = 0, gain = 1, decay = 1, saturation = 1;

  static constexpr auto fields() {
    using A = DendriticIntegrationArgs;
    return std::array{
        field<&A::input>("input", "... b i", reals, "presynaptic activity x of each branch"),
        field<&A::weights>("weights", "n b i", reals, "synaptic weights w"),
        field<&A::soma>("soma", "... n", reals, "sum of the branches"),
        field<&A::branches>("branches", "... n b", reals, "output of each branch"),
        option<&A::nonlinearity>("nonlinearity", "what a branch makes of its synapses"),
        option<&A::threshold>("threshold", "of sigmoid and back_propagation, in units of the drive"),
        option<&A::steepness>("steepness", "of sigmoid, per unit of the drive"),
        option<&A::magnesium>("magnesium", 0.0, 1e6, "of nmda: [Mg2+] outside, in mM"),
        option<&A::reversal>("reversal", "of nmda: reversal potential, in mV"),
        option<&A::gain>("gain", "of back_propagation: of a spike at the soma"),
        option<&A::decay>("decay", 0.0, 1e6, "of back_propagation: loss of the spike from branch to branch"),
        option<&A::saturation>("saturation", 1e-300, 1e300,
                               "of multiplicative: largest magnitude of an output"),
    };
  }
};

/// Neurons with B branches of I synapses each. The drive of a branch is a_b = sum_i w_bi x_bi, and the soma the
/// sum of y_b over the branches:
///   sigmoid           y_b = 1 / (1 + e^{-steepness (a_b - threshold)})
///   nmda              y_b = (reversal - a_b) / (1 + (magnesium / 3.57 mM) e^{-0.062 a_b / mV}): inward current of a
///                     unit conductance at a local potential of a_b mV
///   back_propagation  y_b = a_b + gain e^{-decay b} max(0, sum_b a_b - threshold): a spike at the soma runs back
///                     into branch b, which is b steps away
///   multiplicative    y_b = saturation tanh(m_b / saturation), m_b = prod_i (1 + w_bi x_bi) - 1
/// f64 or f32, computed in double and rounded once. Same bits from run to run.
/// Sources: Poirazi, Brannon & Mel, Neuron 2003; Jahr & Stevens, J. Neurosci. 1990; Stuart & Sakmann, Nature
/// 1994; Koch & Poggio 1992.
extern const Op<DendriticIntegrationArgs> dendritic_integration;

}  // namespace kolmo
