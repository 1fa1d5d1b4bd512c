#include <algorithm>
#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/spiking/leaky_integrate_fire/leaky_integrate_fire.hpp"

namespace kolmo::check {
namespace {
using A = LeakyIntegrateFireArgs;

/// Takes the steps by the time at which a neuron may fire again, as Brian2 does.
void expected(const A& a) {
  const std::int64_t n = a.potential.size(), wait = std::llround(a.refractory / a.dt);
  for (std::int64_t i = 0; i < n; ++i) {
    long double v = get(a.potential, i);
    std::int64_t active_from = std::int64_t(get(a.waiting, i));
    const std::int64_t steps = a.current.dim(0);
    for (std::int64_t t = 0; t < steps; ++t) {
      bool fires = false;
      if (t >= active_from) {
        v += static_cast<long double>(a.dt / a.tau) *
             (static_cast<long double>(a.rest) - v +
              static_cast<long double>(a.resistance) * get(a.current, t * n + i));
        fires = v > static_cast<long double>(a.threshold);
      }
      if (fires) v = static_cast<long double>(a.reset), active_from = std::max(t + wait, t + 1);
      put(a.spike, t * n + i, fires);
    }
    put(a.potential, i, v);
    a.waiting.as<std::int32_t>()[i] = std::int32_t(std::max<std::int64_t>(0, active_from - steps));
  }
}

struct Neuron {
  double potential = 0;
  std::int32_t waiting = 0;
  /// The steps at which a neuron fires under these currents.
  std::vector<int> run(std::vector<double> current, A a, Stream& s) {
    const auto t = std::int64_t(current.size());
    std::vector<char> spike(current.size(), 7);
    a.current = tensor(current.data(), {t, 1}), a.potential = tensor(&potential, {1});
    a.waiting = tensor(&waiting, {1}), a.spike = tensor(reinterpret_cast<bool*>(spike.data()), {t, 1});
    call(leaky_integrate_fire, a, s);
    std::vector<int> fired;
    for (int i = 0; i < int(t); ++i)
      if (spike[std::size_t(i)]) fired.push_back(i);
    return fired;
  }
};

constexpr Fact facts[] = {
    {"without input the potential decays by 1 - dt / tau a step",
     [](Stream& s) {
       Neuron n{.potential = 0.5};
       expect(n.run({0, 0, 0}, {.dt = 0.25, .tau = 1}, s).empty(), "it fired");
       expect(n.potential == 0.5 * 0.75 * 0.75 * 0.75, "wrong decay");
     }},
    {"R I = 2 with dt = tau / 2: V = 1, then 1.5 > 1 fires; 0 without refractory period",
     [](Stream& s) {
       Neuron n;
       expect(n.run(std::vector<double>(8, 2), {.dt = 0.5, .tau = 1}, s) == std::vector<int>{1, 3, 5, 7},
              "spikes");
       expect(n.potential == 0 && n.waiting == 0, "not reset");
     }},
    {"a refractory period of 3 steps leaves out two updates, also from one call to the next",
     [](Stream& s) {
       const A a{.dt = 0.5, .tau = 1, .refractory = 1.5};
       Neuron n, m;
       expect(n.run(std::vector<double>(10, 2), a, s) == std::vector<int>{1, 5, 9}, "spikes");
       expect(n.waiting == 2, "waiting");
       for (const std::int64_t t : {2, 1, 4, 3}) m.run(std::vector<double>(std::size_t(t), 2), a, s);
       expect(m.potential == n.potential && m.waiting == n.waiting, "calls do not continue each other");
     }},
    {"the interval between spikes of dt = tau / 1000 is tau ln(R I / (R I - threshold)) within two steps",
     [](Stream& s) {
       Neuron n;
       const auto fired = n.run(std::vector<double>(3000, 1.5), {.dt = 1e-3, .tau = 1}, s);
       expect(fired.size() == 2, "number of spikes");
       expect(std::abs(fired[1] - fired[0] - 1000 * std::log(3.0)) <= 2, "interval");
     }},
    {"steps without length are refused",
     [](Stream& s) {
       expect_invalid([&] { Neuron().run({0}, {.dt = 0}, s); },
                      "leaky_integrate_fire: dt and tau must be above 0");
     }},
};

}  // namespace

extern constinit const Oracle<A> leaky_integrate_fire_oracle{leaky_integrate_fire, expected, facts};

}  // namespace kolmo::check
