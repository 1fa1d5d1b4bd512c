#pragma once
#include "kolmo/op/op.hpp"

namespace kolmo {

inline constexpr int max_qubits = 40;

struct GateArgs {
  In state;
  Out result;
  Integers qubits{0};

  static constexpr auto fields() {
    using A = GateArgs;
    return std::array{
        field<&A::state>("state", "... n", complexes, "amplitudes of 2^q basis states; qubit k is bit k"),
        field<&A::result>("result", "... n", complexes, "amplitudes after the gate"),
        option<&A::qubits>("qubits", 0, max_qubits - 1, "qubits that the gate acts on, each by itself"),
    };
  }
};

struct PhaseGateArgs {
  In state;
  Out result;
  Integers qubits{0};
  double angle = 0;

  static constexpr auto fields() {
    using A = PhaseGateArgs;
    return std::array{
        field<&A::state>("state", "... n", complexes, "amplitudes of 2^q basis states; qubit k is bit k"),
        field<&A::result>("result", "... n", complexes, "amplitudes after the gate"),
        option<&A::qubits>("qubits", 0, max_qubits - 1, "qubits that the gate acts on, each by itself"),
        option<&A::angle>("angle", -1e6, 1e6, "phase of the basis state 1, in radians"),
    };
  }
};

struct CnotArgs {
  In state;
  Out result;
  Integers control{0};
  std::int64_t target = 1;

  static constexpr auto fields() {
    using A = CnotArgs;
    return std::array{
        field<&A::state>("state", "... n", complexes, "amplitudes of 2^q basis states; qubit k is bit k"),
        field<&A::result>("result", "... n", complexes, "amplitudes after the gate"),
        option<&A::control>("control", 0, max_qubits - 1, "qubits that must all be 1"),
        option<&A::target>("target", 0, max_qubits - 1, "qubit that is then inverted"),
    };
  }
};

// Gates on state vectors of n = 2^q amplitudes (c64, c128; any leading batch dimensions). Qubit k is bit k
// of an amplitude's index. `result` may be `state`. Norms are kept, and not required to be 1. Same bits on
// every device. Refused: n that is no power of two, a qubit that the state has not or that is named twice.
// Source: Nielsen & Chuang, Quantum Computation and Quantum Information, 2000, section 4.2 and 4.3.

/// H = ((1, 1), (1, -1)) / sqrt 2 on each of `qubits`; up to three of them in one pass over memory.
extern const Op<GateArgs> hadamard;
/// X = ((0, 1), (1, 0)) on each of `qubits`, in one pass.
extern const Op<GateArgs> pauli_x;
/// P = diag(1, e^{i angle}) on each of `qubits`, in one pass; angle in radians. Z, S and T are P with pi,
/// pi/2 and pi/4.
extern const Op<PhaseGateArgs> phase_gate;
/// X on `target` where every qubit of `control` is 1: CNOT with one of them, Toffoli with two.
extern const Op<CnotArgs> cnot;

}  // namespace kolmo
