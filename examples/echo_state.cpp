// An echo state network learns Lorenz's equations from a trajectory, then runs on by itself.
#include <array>
#include <cmath>

#include "examples/ridge.hpp"
#include "kolmo/ops/dynamics/reservoir_update/reservoir_update.hpp"
#include "kolmo/ops/random/random_normal/random_normal.hpp"

using example::Numbers;

std::array<double, 3> lorenz(const double* u) {
  return {10 * (u[1] - u[0]), u[0] * (28 - u[2]) - u[1], u[0] * u[1] - 8. / 3 * u[2]};
}

int main(int argc, char** argv) {
  constexpr std::int64_t n = 300, learnt = 3000, settling = 200, free = 500, all = settling + learnt + free;
  constexpr double dt = 0.02;
  kolmo::Stream stream;
  // The trajectory, three numbers for each step, by the midpoint rule; a step consists of ten small ones.
  Numbers u{1, 1, 20};
  for (std::int64_t t = 0; t < 3 * all; t += 3) {
    std::array<double, 3> now{u[std::size_t(t)], u[std::size_t(t) + 1], u[std::size_t(t) + 2]}, half{};
    for (int s = 0; s < 10; ++s) {
      const auto slope = lorenz(now.data());
      for (std::size_t c = 0; c < 3; ++c) half[c] = now[c] + dt / 20 * slope[c];
      const auto middle = lorenz(half.data());
      for (std::size_t c = 0; c < 3; ++c) now[c] += dt / 10 * middle[c];
    }
    u.insert(u.end(), now.begin(), now.end());
  }
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = (u[i] - (i % 3 == 2 ? 25 : 0)) / 10;

  Numbers weights(n * n), in(n * 3), bias(n), state(n), states(learnt * n);
  std::uint64_t seed = 1;
  const auto draw = [&](Numbers& to, double deviation) {
    const auto size = std::int64_t(to.size());
    kolmo::random_normal(
        {.values = kolmo::tensor(to.data(), {size}), .n = size, .seed = seed++, .deviation = deviation},
        stream);
  };
  draw(weights, 0.6 / std::sqrt(double(n))), draw(in, 0.4), draw(bias, 0.4);  // spectral radius near 0.6
  const auto update = [&](double* input) {
    kolmo::reservoir_update({.input = kolmo::tensor(input, {3}),
                             .state = kolmo::tensor(state.data(), {n}),
                             .input_weights = kolmo::tensor(in.data(), {n, 3}),
                             .weights = kolmo::tensor(weights.data(), {n, n}),
                             .bias = kolmo::tensor(bias.data(), {n}),
                             .next = kolmo::tensor(state.data(), {n})},
                            stream);
  };
  for (std::int64_t t = 0; t < settling + learnt; ++t) {
    update(&u[std::size_t(3 * t)]);
    if (t >= settling) std::copy(state.begin(), state.end(), states.begin() + (t - settling) * n);
  }
  Numbers next(&u[3 * (settling + 1)], &u[3 * (settling + learnt + 1)]);  // the state that follows each state
  Numbers readout = example::ridge(states, next, n, 3, 1e-6, stream);

  Numbers time, truth, own;
  double worst = 0;
  for (std::int64_t t = 0; t < free; ++t) {
    kolmo::matmul({.a = kolmo::tensor(state.data(), {1, n}),
                   .b = kolmo::tensor(readout.data(), {n, 3}),
                   .y = kolmo::tensor(next.data(), {1, 3})},
                  stream);
    update(next.data());
    time.push_back(dt * double(t)), own.push_back(10 * next[0]);
    truth.push_back(10 * u[std::size_t(3 * (settling + learnt + t))]);
    if (time.back() < 2) worst = std::max(worst, std::abs(own.back() - truth.back()));
  }
  std::printf("largest error of x in the first 2 units of time: %.3f of 40\n", worst);
  example::Plot plot("An echo state network runs on from Lorenz's equations", "time", "x", {0, 10},
                     {-25, 25});
  plot.line(time, truth, "Lorenz", "#333"), plot.line(time, own, "network", "#c0392b", true);
  plot.save(argc > 1 ? argv[1] : nullptr);
  return worst < 2 ? 0 : 1;
}
