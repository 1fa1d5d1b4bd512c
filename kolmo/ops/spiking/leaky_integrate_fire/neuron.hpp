#pragma once
#include <cmath>

#include "kolmo/ops/spiking/leaky_integrate_fire/leaky_integrate_fire.hpp"
#include "kolmo/skeleton/each_item.hpp"

namespace kolmo {

/// All steps of one neuron.
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
  std::int64_t items() const { return neurons; }

  /// One step; whether the neuron fires.
  KOLMO_HD bool step(T& v, std::int32_t& left, T input) const {
    const bool waits = left > 0;
    const T next =
        exact_add(v, exact_mul(rate, exact_add(exact_mul(resistance, input), -exact_add(v, -rest))));
    const bool fires = !waits && next > threshold;
    v = waits ? v : fires ? reset : next;
    left = fires ? wait : left - waits;
    return fires;
  }
  KOLMO_HD void operator()(std::int64_t i) const {
    T v = potential[i];
    std::int32_t left = waiting[i];
    constexpr int ahead = 64 / int(sizeof(T));
    std::int64_t at = i, t = 0;
    for (; t + ahead <= steps; t += ahead) {  // these currents are read before spikes are written
      T input[ahead];
      for (int k = 0; k < ahead; ++k) input[k] = current[at + k * neurons];
      for (int k = 0; k < ahead; ++k, at += neurons) spike[at] = step(v, left, input[k]);
    }
    for (; t < steps; ++t, at += neurons) spike[at] = step(v, left, current[at]);
    potential[i] = v, waiting[i] = left;
  }
};
using LeakyNeurons =
    Items<LeakyIntegrateFireArgs, LeakyNeuron, &LeakyIntegrateFireArgs::current, double, float>;

}  // namespace kolmo
