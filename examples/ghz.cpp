// A GHZ state of five qubits: when measured, all are 0 or all are 1.
#include <complex>

#include "examples/plot.hpp"
#include "kolmo/ops/quantum/gates/gates.hpp"
#include "kolmo/ops/quantum/quantum_measurement/quantum_measurement.hpp"

int main(int argc, char** argv) {
  using example::Numbers;
  constexpr std::int64_t qubits = 5, states = 1 << qubits, shots = 1000;
  kolmo::Stream stream;
  std::vector<std::complex<double>> amplitudes(states);
  std::vector<std::int64_t> outcome(shots);
  double probability = 0;
  amplitudes[0] = 1;
  const kolmo::Tensor state =
      kolmo::tensor(amplitudes.data(), kolmo::DType::c128, std::array<std::int64_t, 1>{states});
  kolmo::hadamard({.state = state, .result = state, .qubits = {0}}, stream);
  for (std::int64_t q = 1; q < qubits; ++q)
    kolmo::cnot({.state = state, .result = state, .control = {q - 1}, .target = q}, stream);
  kolmo::quantum_measurement({.state = state,
                              .outcome = kolmo::tensor(outcome.data(), {shots}),
                              .probability = kolmo::tensor(&probability, {}),
                              .collapsed = state,
                              .shots = shots,
                              .seed = 5},
                             stream);
  Numbers count(states);
  for (const std::int64_t o : outcome) ++count[std::size_t(o)];
  std::printf("|00000>: %g, |11111>: %g of %d shots\n", count.front(), count.back(), int(shots));
  example::Plot plot("GHZ state of five qubits, 1000 shots", "outcome, as a number", "shots", {0, 32},
                     {0, 600});
  for (int o = 0; o < states; ++o)
    plot.line({o + 0.5, o + 0.5}, {0, count[std::size_t(o)]}, "", "#2471a3"),
        plot.points({o + 0.5}, {count[std::size_t(o)]}, "", "#2471a3", 3);
  plot.save(argc > 1 ? argv[1] : nullptr);
  const bool only_two = count.front() + count.back() == shots;
  return only_two && count.front() > 440 && count.front() < 560 ? 0 : 1;  // 4 standard deviations
}
