#include <cmath>
#include <complex>
#include <numbers>

#include "kolmo/base/qubits.hpp"
#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/quantum/gates/gates.hpp"

namespace kolmo::check {
namespace {

using C = std::complex<long double>;
using State = std::complex<double>;

/// Computes result_i = sum over j of U_ij state_j, where U is the product of one 2 x 2 matrix for each listed
/// qubit.
template <class Args>
void multiply(const Args& a, const C (&gate)[2][2]) {
  const std::int64_t n = a.state.dim(-1);
  for (std::int64_t at = 0; at < a.state.size(); ++at) {
    const std::int64_t i = at % n;
    C sum = 0;
    for (std::int64_t choice = 0; choice < std::int64_t(1) << a.qubits.count; ++choice) {
      std::int64_t j = i;
      C factor = 1;
      for (int k = 0; k < a.qubits.count; ++k) {
        const std::int64_t place = std::int64_t(1) << a.qubits[k];
        const int to = choice >> k & 1;
        factor *= gate[i / place % 2][to];
        j += (to - i / place % 2) * place;
      }
      sum += factor * get_complex(a.state, at - i + j);
    }
    put_complex(a.result, at, sum);
  }
}
void expect_hadamard(const GateArgs& a) {
  const long double s = 1 / std::sqrt(2.0L);
  multiply(a, {{s, s}, {s, -s}});
}
void expect_pauli_x(const GateArgs& a) { multiply(a, {{0, 1}, {1, 0}}); }
void expect_phase(const PhaseGateArgs& a) {
  multiply(a, {{1, 0}, {0, std::polar(1.0L, static_cast<long double>(a.angle))}});
}
void expect_cnot(const CnotArgs& a) {
  const std::int64_t n = a.state.dim(-1), t = std::int64_t(1) << a.target;
  for (std::int64_t at = 0; at < a.state.size(); ++at) {
    bool on = true;
    for (const std::int64_t c : a.control) on = on && at % n / (std::int64_t(1) << c) % 2 == 1;
    put_complex(a.result, at, get_complex(a.state, !on ? at : at % n / t % 2 ? at - t : at + t));
  }
}

template <class Args>
void in_place(const Op<Args>& gate, std::span<State> x, Args a, Stream& s) {
  a.state = a.result = tensor(reinterpret_cast<Complex<double>*>(x.data()), {std::int64_t(x.size())});
  call(gate, a, s);
}
double norm(std::span<const State> x) {
  double sum = 0;
  for (const State& a : x) sum += std::norm(a);
  return sum;
}
constexpr double h = std::numbers::sqrt2 / 2;

constexpr Fact hadamard_facts[] = {
    {"H |1> = (|0> - |1>) / sqrt 2, H H = 1",
     [](Stream& s) {
       State x[] = {0, 1};
       in_place(hadamard, x, {}, s);
       expect(std::abs(x[0] - h) < 1e-15 && std::abs(x[1] + h) < 1e-15, "H |1>");
       in_place(hadamard, x, {}, s);
       expect(std::abs(x[0]) < 1e-15 && std::abs(x[1] - 1.0) < 1e-15, "H H |1>");
     }},
    {"H and CNOTs make the GHZ state; every gate keeps the norm",
     [](Stream& s) {
       State x[8] = {1};
       in_place(hadamard, x, {}, s);
       in_place(cnot, x, {.control = {0}, .target = 1}, s);
       in_place(cnot, x, {.control = {1}, .target = 2}, s);
       for (int i = 0; i < 8; ++i) expect(std::abs(x[i] - (i % 7 ? 0 : h)) < 1e-15, "not GHZ");
       in_place(phase_gate, x, {.qubits = {2}, .angle = 0.4}, s);
       in_place(hadamard, x, {.qubits = {0, 1, 2}}, s);
       in_place(pauli_x, x, {.qubits = {1}}, s);
       expect_near(norm(x), 1, 1e-15, "norm");
     }},
    {"what is no state, or no qubit of it, is refused",
     [](Stream& s) {
       State x[6] = {1};
       expect_invalid([&] { in_place(hadamard, x, {}, s); }, "hadamard: state has 6 amplitudes");
       const std::span<State> two(x, 4);
       expect_invalid(
           [&] {
             in_place(hadamard, two, {.qubits = {1, 2}}, s);
           },
           "hadamard: qubits names qubit 2, which does not exist: state has 2");
       expect_invalid(
           [&] {
             in_place(pauli_x, two, {.qubits = {1, 1}}, s);
           },
           "pauli_x: qubits names qubit 1 twice");
       expect_invalid([&] { in_place(pauli_x, two, {.qubits = {}}, s); }, "pauli_x: qubits names no qubit");
       expect_invalid([&] { in_place(cnot, two, {.control = {1}, .target = 1}, s); },
                      "cnot: target and control both name qubit 1");
       expect_invalid([&] { in_place(cnot, two, {.control = {1}, .target = 2}, s); },
                      "cnot: target names qubit 2, which does not exist: state has 2");
       expect_invalid([&] { in_place(cnot, two, {.control = {2}, .target = 0}, s); },
                      "cnot: control names qubit 2");
     }},
    {"places beyond 2^31",
     [](Stream&) {
       constexpr std::int64_t one = 1;
       expect(insert_zero((one << 36) + 5, 2) == (one << 37) + 9 && insert_zero(one << 35, 36) == one << 35,
              "a wrong index");
     }},
};
constexpr Fact pauli_x_facts[] = {
    {"X on qubit 1 of two swaps |00> with |10> and |01> with |11>",
     [](Stream& s) {
       State x[] = {1, 2, 3, {4, 5}};
       in_place(pauli_x, x, {.qubits = {1}}, s);
       expect(x[0] == 3.0 && x[1] == State(4, 5) && x[2] == 1.0 && x[3] == 2.0, "wrong amplitudes");
     }},
};
constexpr Fact phase_facts[] = {
    {"i multiplies |1>, twice where both qubits are 1; -i takes it back",
     [](Stream& s) {
       State x[] = {1, 1, 1, 1};
       in_place(phase_gate, x, {.qubits = {0, 1}, .angle = std::numbers::pi / 2}, s);
       const State i(0, 1), want[] = {1, i, i, -1};
       for (int k = 0; k < 4; ++k) expect(std::abs(x[k] - want[k]) < 1e-15, "wrong phase");
       in_place(phase_gate, x, {.qubits = {1, 0}, .angle = -std::numbers::pi / 2}, s);
       for (const State& a : x) expect(std::abs(a - 1.0) < 1e-15, "not undone");
     }},
};
constexpr Fact cnot_facts[] = {
    {"qubit 0 controls qubit 1: |01> and |11> are swapped; twice is nothing",
     [](Stream& s) {
       State x[] = {1, 2, 3, 4};
       in_place(cnot, x, {}, s);
       expect(x[0] == 1.0 && x[1] == 4.0 && x[2] == 3.0 && x[3] == 2.0, "wrong amplitudes");
       in_place(cnot, x, {}, s);
       expect(x[1] == 2.0 && x[3] == 4.0, "not undone");
     }},
};

}  // namespace

extern constinit const Oracle<GateArgs> hadamard_oracle{hadamard, expect_hadamard, hadamard_facts};
extern constinit const Oracle<GateArgs> pauli_x_oracle{pauli_x, expect_pauli_x, pauli_x_facts};
extern constinit const Oracle<PhaseGateArgs> phase_gate_oracle{phase_gate, expect_phase, phase_facts};
extern constinit const Oracle<CnotArgs> cnot_oracle{cnot, expect_cnot, cnot_facts};

}  // namespace kolmo::check
