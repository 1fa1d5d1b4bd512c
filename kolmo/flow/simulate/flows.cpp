#include <array>

#include "kolmo/flow/data/portable_math.hpp"
#include "kolmo/flow/simulate/steps.hpp"

namespace kolmo::detail {
namespace {

using Values = std::vector<std::vector<double>>;
using State = std::vector<std::array<double, 3>>;  // x, y, z of each variable

constexpr double two_pi = 6.283185307179586;
constexpr std::size_t steps_per_sample = 10;

Values run_kuramoto(const System& system, std::size_t length) {
  constexpr double dt = 0.1, root_dt = 0.31622776601683794, diffusion = 0.3;
  const portable::Random random(system.seed);
  const Incoming incoming = incoming_links(system);
  const std::size_t variables = incoming.size();
  Values out(variables, std::vector<double>(length));
  std::vector<double> turns(variables), next(variables);
  for (std::size_t i = 0; i < variables; ++i) turns[i] = random.uniform(start, 0, std::uint32_t(i));
  for (std::size_t t = 0; t < length * steps_per_sample; ++t) {
    for (std::size_t i = 0; i < variables; ++i) {
      double pull = 0;
      for (const TrueLink& link : incoming[i]) {
        pull += link.strength * portable::sin_turns(turns[std::size_t(link.source)] - turns[i]);
      }
      const double kick = diffusion * root_dt * random.normal(noise, t, std::uint32_t(i));
      next[i] = turns[i] + system.self[i] * dt + (pull * dt + kick) / two_pi;
      next[i] -= std::floor(next[i]);
    }
    turns.swap(next);
    if ((t + 1) % steps_per_sample == 0) {
      for (std::size_t i = 0; i < variables; ++i)
        out[i][t / steps_per_sample] = portable::sin_turns(turns[i]);
    }
  }
  return out;
}

/// Returns state + h * slope.
State moved(const State& state, double h, const State& slope) {
  State out = state;
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) out[i][k] += h * slope[i][k];
  }
  return out;
}

State lorenz_slope(const System& system, const Incoming& incoming, const State& s) {
  State slope(s.size());
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto [x, y, z] = s[i];
    double pull = 0;
    for (const TrueLink& link : incoming[i]) pull += link.strength * (s[std::size_t(link.source)][0] - x);
    slope[i] = {10 * (y - x) + pull, x * (system.self[i] - z) - y, x * y - 8.0 / 3 * z};
  }
  return slope;
}

Values run_lorenz(const System& system, std::size_t length) {
  constexpr double h = 0.01;
  const portable::Random random(system.seed);
  const Incoming incoming = incoming_links(system);
  Values out(incoming.size(), std::vector<double>(length));
  State state(incoming.size());
  for (std::size_t i = 0; i < state.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k)
      state[i][k] = random.uniform(start, k, std::uint32_t(i), 1, 2) + (k == 2 ? 20 : 0);
  }
  for (std::size_t t = 0; t < length * steps_per_sample; ++t) {
    const State k1 = lorenz_slope(system, incoming, state);
    const State k2 = lorenz_slope(system, incoming, moved(state, h / 2, k1));
    const State k3 = lorenz_slope(system, incoming, moved(state, h / 2, k2));
    const State k4 = lorenz_slope(system, incoming, moved(state, h, k3));
    for (std::size_t i = 0; i < state.size(); ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        state[i][k] += h / 6 * (k1[i][k] + 2 * k2[i][k] + 2 * k3[i][k] + k4[i][k]);
      }
      if ((t + 1) % steps_per_sample == 0) out[i][t / steps_per_sample] = state[i][0];
    }
  }
  return out;
}

}  // namespace

std::vector<std::vector<double>> run_flow(const System& system, std::size_t length) {
  return system.kind == SystemKind::kuramoto ? run_kuramoto(system, length) : run_lorenz(system, length);
}

}  // namespace kolmo::detail
