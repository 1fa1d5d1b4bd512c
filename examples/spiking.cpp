// A raster: leaky integrate-and-fire neurons that inhibit each other, driven by noise.
#include <cmath>

#include "examples/plot.hpp"
#include "kolmo/base/tensor.hpp"
#include "kolmo/ops/random/random_normal/random_normal.hpp"
#include "kolmo/ops/spiking/leaky_integrate_fire/leaky_integrate_fire.hpp"

int main(int argc, char** argv) {
  using example::Numbers;
  constexpr std::int64_t neurons = 60, steps = 5000;
  constexpr double dt = 1e-4;
  kolmo::Stream stream;
  Numbers noise(steps * neurons), current(neurons), potential(neurons), rate(neurons);
  std::vector<std::int32_t> waiting(neurons);
  std::vector<unsigned char> spike(neurons);
  kolmo::random_normal({.values = kolmo::tensor(noise.data(), {steps * neurons}),
                        .n = steps * neurons,
                        .seed = 2,
                        .deviation = 1.5},
                       stream);
  Numbers when, who;
  double inhibition = 0;
  for (std::int64_t t = 0; t < steps; ++t) {
    for (std::int64_t i = 0; i < neurons; ++i)  // the drive grows with the number of the neuron
      current[std::size_t(i)] =
          0.7 + 0.8 * double(i) / neurons + noise[std::size_t(t * neurons + i)] - inhibition;
    kolmo::leaky_integrate_fire(
        {.current = kolmo::tensor(current.data(), {1, neurons}),
         .potential = kolmo::tensor(potential.data(), {neurons}),
         .waiting = kolmo::tensor(waiting.data(), {neurons}),
         .spike = kolmo::tensor(spike.data(), kolmo::DType::boolean, std::array<std::int64_t, 2>{1, neurons}),
         .dt = dt,
         .refractory = 2e-3},
        stream);
    inhibition *= 1 - dt / 5e-3;
    for (std::int64_t i = 0; i < neurons; ++i)
      if (spike[std::size_t(i)]) {
        inhibition += 0.02, ++rate[std::size_t(i)];
        when.push_back(double(t) * dt), who.push_back(double(i));
      }
  }
  const double slow = rate[5] * 2, fast = rate[55] * 2;  // in half a second
  std::printf("%zu spikes; neuron 5 fires at %g Hz, neuron 55 at %g Hz\n", when.size(), slow, fast);
  example::Plot plot("Spikes of 60 neurons", "time / s", "neuron", {0, 0.5}, {0, 60});
  plot.points(when, who, "", "#2471a3", 1.3);
  plot.save(argc > 1 ? argv[1] : nullptr);
  return fast > 20 && fast < 500 && fast > 2 * slow ? 0 : 1;
}
