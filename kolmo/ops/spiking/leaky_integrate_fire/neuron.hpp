#pragma once
#include <cmath>
#include <cstdint>

#include "kolmo/base/pack.hpp"
#include "kolmo/ops/spiking/leaky_integrate_fire/leaky_integrate_fire.hpp"

namespace kolmo {

/// The parameters and arrays of all neurons, and a step of one.
template <class T>
struct LeakyNeuron {
  const T* current;
  T* potential;
  std::int32_t* waiting;
  bool* spike;
  std::int64_t steps, neurons;
  T rate, resistance, rest, threshold, reset;
  std::int32_t wait;

  explicit LeakyNeuron(const LeakyIntegrateFireArgs& a)
      : current(a.current.as<T>()),
        potential(a.potential.as<T>()),
        waiting(a.waiting.as<std::int32_t>()),
        spike(a.spike.as<bool>()),
        steps(a.current.dim(0)),
        neurons(a.potential.size()),
        rate(T(a.dt / a.tau)),
        resistance(T(a.resistance)),
        rest(T(a.rest)),
        threshold(T(a.threshold)),
        reset(T(a.reset)),
        wait(std::int32_t(std::fmax(0, std::nearbyint(a.refractory / a.dt) - 1))) {}
  /// The potential towards which a current drives the neuron.
  KOLMO_HD T goal(T input) const { return exact_add(exact_mul(resistance, input), rest); }
  /// The potential after a step in which the neuron neither waits nor fires. Only three roundings depend on
  /// v, one after the other.
  KOLMO_HD T next(T v, T goal) const { return exact_add(v, exact_mul(rate, exact_add(goal, -v))); }
  /// Takes one step and returns whether the neuron fires.
  KOLMO_HD bool step(T& v, std::int32_t& left, T input) const {
    const bool waits = left > 0;
    const T next_v = next(v, goal(input));
    const bool fires = !waits && next_v > threshold;
    v = waits ? v : fires ? reset : next_v;
    left = fires ? wait : waits ? left - 1 : 0;
    return fires;
  }
};

/// Takes all steps of W neighbouring neurons.
template <class T, int W>
struct LeakyPacks : LeakyNeuron<T> {
  using N = LeakyNeuron<T>;
  explicit LeakyPacks(const LeakyIntegrateFireArgs& a) : N(a) {}

  /// Whether the neurons can be divided into packs of W that are aligned to their size.
  bool fits() const {
    const auto aligned = [](const auto* p) {
      return reinterpret_cast<std::uintptr_t>(p) % (W * sizeof(*p)) == 0;
    };
    return N::neurons % W == 0 && aligned(N::current) && aligned(N::potential) && aligned(N::waiting) &&
           aligned(N::spike);
  }
  std::int64_t items() const { return N::neurons / W; }
  KOLMO_HD void operator()(std::int64_t item) const {
    const std::int64_t first = item * W;
    Pack<T, W> v = load_pack<W>(N::potential + first);
    Pack<std::int32_t, W> left = load_pack<W>(N::waiting + first);
    for (std::int64_t t = 0; t < N::steps; ++t) {
      const Pack<T, W> input = load_pack<W>(N::current + t * N::neurons + first);
      Pack<bool, W> fires;
      for (int w = 0; w < W; ++w) fires.value[w] = N::step(v.value[w], left.value[w], input.value[w]);
      store_pack(N::spike + t * N::neurons + first, fires);
    }
    store_pack(N::potential + first, v), store_pack(N::waiting + first, left);
  }
};

}  // namespace kolmo
