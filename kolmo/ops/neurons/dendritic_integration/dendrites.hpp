#pragma once
#include <cmath>

#include "kolmo/ops/neurons/dendritic_integration/dendritic_integration.hpp"
#include "kolmo/skeleton/each_team.hpp"

namespace kolmo {

/// Computes a neuron for one sample.
template <class T>
struct DendriticNeuron {
  const T *input, *weights;
  T *soma, *branch;
  std::int64_t samples, neurons, branches, inputs;
  Dendrite kind;
  double threshold, steepness, block, reversal, gain, decay, saturation;

  explicit DendriticNeuron(const DendriticIntegrationArgs& a)
      : input(a.input.as<T>()),
        weights(a.weights.as<T>()),
        soma(a.soma.as<T>()),
        branch(a.branches.as<T>()),
        neurons(a.weights.dim(0)),
        branches(a.weights.dim(1)),
        inputs(a.weights.dim(2)),
        kind(a.nonlinearity),
        threshold(a.threshold),
        steepness(a.steepness),
        block(a.magnesium / 3.57),
        reversal(a.reversal),
        gain(a.gain),
        decay(a.decay),
        saturation(a.saturation) {
    samples = a.soma.size() / neurons;
  }
  std::int64_t items() const { return samples * neurons; }
  KOLMO_HD std::int64_t scratch() const { return branches; }
  std::int64_t width() const { return inputs; }

  template <class Team>
  KOLMO_HD void operator()(std::int64_t item, const Team& team, double* drive) const {
    const std::int64_t sample = item / neurons, neuron = item - sample * neurons;
    for (std::int64_t b = 0; b < branches; ++b) {
      const double value = drive_of(team, input + (sample * branches + b) * inputs,
                                    weights + (neuron * branches + b) * inputs);
      if (team.first()) drive[b] = value;
    }
    team.sync();
    double spike = 0;
    if (kind == Dendrite::back_propagation) {
      const double beyond = team_sum(team, branches, [&](std::int64_t b) { return drive[b]; }) - threshold;
      spike = beyond < 0 ? 0 : gain * beyond;
    }
    const double sum = team_sum(team, branches, [&](std::int64_t b) {
      const double y = output(drive[b], spike, double(b));
      if (branch) branch[item * branches + b] = T(y);
      return y;
    });
    if (team.first()) soma[item] = T(sum);
  }

 private:
  /// Computes a_b or, for the multiplicative kind, m_b.
  template <class Team>
  KOLMO_HD double drive_of(const Team& team, const T* x, const T* w) const {
    if (kind != Dendrite::multiplicative)
      return team_sum(team, inputs, [&](std::int64_t i) { return double(w[i]) * double(x[i]); });
    double product = 1;
    team.each(inputs, [&](std::int64_t i) { product *= 1 + double(w[i]) * double(x[i]); });
    return team.product(product) - 1;
  }
  KOLMO_HD double output(double a, double spike, double distance) const {
    switch (kind) {
      case Dendrite::sigmoid:
        return 1 / (1 + std::exp(-steepness * (a - threshold)));
      case Dendrite::nmda:
        return (reversal - a) / (1 + block * std::exp(-0.062 * a));
      case Dendrite::back_propagation:
        return a + spike * std::exp(-decay * distance);
      default:
        return saturation * std::tanh(a / saturation);
    }
  }
};
using DendriticNeurons =
    Items<DendriticIntegrationArgs, DendriticNeuron, &DendriticIntegrationArgs::input, double, float>;

}  // namespace kolmo
