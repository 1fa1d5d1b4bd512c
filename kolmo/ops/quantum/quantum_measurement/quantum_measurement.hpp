#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

struct QuantumMeasurementArgs {
  In state;
  Out outcome, probability, collapsed;
  OptOut probabilities;
  Integers qubits;
  std::int64_t shots = 1, offset = 0;
  std::uint64_t seed = 0;

  static constexpr auto fields() {
    using A = QuantumMeasurementArgs;
    constexpr DTypes f64 = DTypes::of(DType::f64), i64 = DTypes::of(DType::i64);
    return std::array{
        field<&A::state>("state", "... n", complexes, "amplitudes of 2^q basis states; qubit k is bit k"),
        field<&A::outcome>("outcome", "... shots", i64,
                           "measured values of the qubits, as bits in ascending order"),
        field<&A::probability>("probability", "...", f64, "probability of the first outcome"),
        field<&A::collapsed>("collapsed", "... n", complexes, "state after the first outcome"),
        field<&A::probabilities>("probabilities", "... outcomes", f64, "probability of every outcome"),
        option<&A::qubits>("qubits", 0, 39, "qubits that are measured; none named: all"),
        option<&A::shots>("shots", 1, std::int64_t(1) << 40, "independent outcomes drawn from a state"),
        option<&A::seed>("seed", "which random sequence"),
        option<&A::offset>("offset", 0, std::int64_t(1) << 60, "place of the first draw in the sequence"),
    };
  }
};

/// Measures qubits of states of n = 2^q amplitudes in the computational basis. With N = sum_i |a_i|^2,
///   P(o) = sum over i with outcome o of |a_i|^2 / N
/// Draws `shots` outcomes for each state, by inversion of P in the order of outcomes: the k-th shot of state
/// b uses element offset + b shots + k of the sequence of 53-bit uniform numbers of the seed (Philox). The
/// state collapses by the first shot: amplitudes of other outcomes become 0, the others are multiplied by
/// P(o)^(-1/2), so that the norm is kept. `collapsed` may be `state`. Sums in double; same bits on every
/// device. Refused: n that is no power of two, qubits that do not exist or are named twice. Fault: a state
/// whose norm is 0 or not finite.
/// Source: Nielsen & Chuang, Quantum Computation and Quantum Information, 2000, section 2.2.5.
extern const Op<QuantumMeasurementArgs> quantum_measurement;

}  // namespace kolmo
