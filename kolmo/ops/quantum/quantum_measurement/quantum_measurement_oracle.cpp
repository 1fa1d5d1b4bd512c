#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "kolmo/check/reference.hpp"
#include "kolmo/ops/quantum/quantum_measurement/quantum_measurement.hpp"

namespace kolmo::check {
namespace {
using A = QuantumMeasurementArgs;
using State = std::complex<double>;

std::int64_t outcome_of(const A& a, std::int64_t amplitude) {
  if (a.qubits.empty()) return amplitude;
  std::int64_t o = 0;
  for (int k = 39; k >= 0; --k)
    if (std::count(a.qubits.begin(), a.qubits.end(), k)) o = 2 * o + amplitude / (std::int64_t(1) << k) % 2;
  return o;
}

void expected(const A& a) {
  const std::int64_t n = a.state.dim(-1), outcomes = a.qubits.empty() ? n : std::int64_t(1) << a.qubits.count;
  for (std::int64_t b = 0; b < a.state.size() / n; ++b) {
    std::vector<long double> p(std::size_t(outcomes), 0);
    long double norm = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const long double square = std::norm(get_complex(a.state, b * n + i));
      p[std::size_t(outcome_of(a, i))] += square, norm += square;
    }
    std::int64_t first = 0;
    for (std::int64_t k = a.shots - 1; k >= 0; --k) {
      const std::int64_t draw = b * a.shots + k;
      long double t =
          norm *
          std::ldexp(static_cast<long double>(philox64(a.seed, 2 * std::uint64_t(a.offset + draw)) >> 11),
                     -53);
      first = 0;
      while (t >= p[std::size_t(first)]) t -= p[std::size_t(first++)];
      put(a.outcome, draw, static_cast<long double>(first));
    }
    const long double chosen = p[std::size_t(first)] / norm;
    put(a.probability, b, chosen);
    for (std::int64_t o = 0; o < outcomes; ++o)
      if (a.probabilities.given()) put(a.probabilities, b * outcomes + o, p[std::size_t(o)] / norm);
    for (std::int64_t i = 0; i < n; ++i)
      put_complex(a.collapsed, b * n + i,
                  outcome_of(a, i) == first ? get_complex(a.state, b * n + i) / std::sqrt(chosen) : 0);
  }
}

struct Measured {
  std::vector<std::int64_t> outcome;
  std::vector<State> collapsed;
  double probability = 0;
};
Measured measured(std::vector<State> state, std::int64_t shots, Integers qubits, std::uint64_t seed,
                  Stream& s) {
  Measured m{std::vector<std::int64_t>(std::size_t(shots)), state};
  const std::array shape{std::int64_t(state.size())};
  call(quantum_measurement,
       {.state = tensor(state.data(), DType::c128, shape),
        .outcome = tensor(m.outcome.data(), {shots}),
        .probability = tensor(&m.probability, {}),
        .collapsed = tensor(m.collapsed.data(), DType::c128, shape),
        .qubits = qubits,
        .shots = shots,
        .seed = seed},
       s);
  return m;
}

constexpr Fact facts[] = {
    {"a basis state is measured as itself, and stays",
     [](Stream& s) {
       const Measured m = measured({0, 0, State(0, 2), 0}, 50, {}, 1, s);
       for (const std::int64_t o : m.outcome) expect(o == 2, "another outcome");
       expect(m.probability == 1 && m.collapsed[2] == State(0, 2), "changed");
     }},
    {"qubits of the GHZ state agree; bits of qubits are in ascending order",
     [](Stream& s) {
       std::vector<State> ghz(8);
       ghz[0] = ghz[7] = std::sqrt(0.5);
       for (std::uint64_t seed = 0; seed < 20; ++seed) {
         const Measured m = measured(ghz, 1, {2}, seed, s);
         expect(std::abs(m.collapsed[m.outcome[0] ? 7 : 0] - 1.0) < 1e-15, "not collapsed");
         expect(std::abs(m.probability - 0.5) < 1e-15 && m.collapsed[m.outcome[0] ? 0 : 7] == 0.0, "P");
       }
       expect(measured({0, 1, 0, 0}, 1, {1, 0}, 0, s).outcome[0] == 1, "order of qubits");
     }},
    {"20000 shots of three qubits follow P (chi-square), and outcomes of P = 0 never come",
     [](Stream& s) {
       std::vector<State> state(8);
       const double weight[] = {1, 0, 3, 2, 8, 0, 1, 5};
       for (std::size_t i = 0; i < 8; ++i) state[i] = std::polar(std::sqrt(weight[i] / 20), double(i));
       double count[8] = {}, square = 0;
       for (const std::int64_t o : measured(state, 20000, {}, 11, s).outcome) ++count[o];
       for (int i = 0; i < 8; ++i) {
         expect(weight[i] > 0 || count[i] == 0, "an impossible outcome");
         const double want = 1000 * weight[i];
         if (want > 0) square += (count[i] - want) * (count[i] - want) / want;
       }
       expect(square < 20.5, "chi-square of 5 degrees of freedom beyond the 0.1 % point");
     }},
    {"the norm is kept, also one that is not 1",
     [](Stream& s) {
       const Measured m = measured({3, State(0, 1), -2, State(1, 1)}, 1, {1}, 5, s);
       double norm = 0;
       for (const State& a : m.collapsed) norm += std::norm(a);
       expect_near(norm, 16, 1e-15, "norm");
     }},
    {"a state of norm 0 is named",
     [](Stream& s) {
       expect_invalid([&] { measured({0, 0}, 1, {}, 0, s); }, "norm of the state is 0 or not finite");
       expect_invalid([&] { measured({0, 0, 1}, 1, {}, 0, s); }, "state has 3 amplitudes");
     }},
};

}  // namespace

extern constinit const Oracle<A> quantum_measurement_oracle{quantum_measurement, expected, facts};

}  // namespace kolmo::check
