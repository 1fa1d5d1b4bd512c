#include "kolmo/ops/quantum/gates/gates.hpp"

#include <algorithm>
#include <array>
#include <numbers>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/quantum/gates/gate_items.hpp"
#include "kolmo/skeleton/each_item_cpu.hpp"
#include "kolmo/skeleton/item_steps_cpu.hpp"

namespace kolmo {
namespace {

void check_named(std::string_view op, const Tensor& state, const Integers& qubits,
                 std::string_view option = "qubits") {
  if (qubits.empty()) fail<InvalidArgument>(std::string(op) + ": " + std::string(option) + " names no qubit");
  check_qubits(op, option, state, qubits);
}
template <class Args>
double amplitudes(const Args& a) {
  return double(a.state.size());
}
template <class Args>
constexpr Case<Args> benchmark(const char* name, std::int64_t n, DType dtype,
                               void (*setup)(Args&) = nullptr) {
  return {
      .name = name, .sizes = {{"...", 1}, {"n", n}}, .dtype = dtype, .benchmark_only = true, .setup = setup};
}
constexpr auto all_of_five = [](auto& a) { a.qubits = {4, 0, 2, 1, 3}; };
constexpr auto two_of_ten = [](auto& a) { a.qubits = {9, 3}; };

// A group takes 3 sums, and a product by a rounded factor: 5 roundings of numbers below 8, before and after
// the factor. Five qubits make two groups.
constexpr double f64 = 2 * 5 * 8 * 0x1p-53, f32 = 2 * 5 * 8 * 0x1p-24;
struct GateCases {
  Case<GateArgs> list[5];
};
constexpr GateCases gate_cases(double c128, double c64) {
  return {{
      {.name = "one qubit",
       .sizes = {{"...", 3}, {"n", 2}},
       .dtype = DType::c128,
       .tolerance = absolute(c128)},
      {.name = "qubits 9 and 3 of 10, c64",
       .sizes = {{"...", 2}, {"n", 1024}},
       .dtype = DType::c64,
       .tolerance = absolute(c64),
       .setup = two_of_ten},
      {.name = "5 qubits of 11, c128",
       .sizes = {{"...", 1}, {"n", 2048}},
       .dtype = DType::c128,
       .tolerance = absolute(c128),
       .setup = all_of_five},
      benchmark<GateArgs>("2^26 c64", 1 << 26, DType::c64),
      benchmark<GateArgs>("2^24 c128, 2 qubits", 1 << 24, DType::c128, two_of_ten),
  }};
}
constexpr GateCases hadamard_cases = gate_cases(f64, f32), pauli_x_cases = gate_cases(0, 0);

constinit const Definition<GateArgs> hadamard_definition{
    {.name = "hadamard",
     .summary = "H = ((1, 1), (1, -1)) / sqrt 2 on each of the qubits",
     .source = "Nielsen & Chuang 2000",
     .determinism = Determinism::everywhere,
     .in_place = true},
    // Each qubit takes a complex sum, and every three of them a factor.
    {.check = [](const GateArgs& a) { check_named("hadamard", a.state, a.qubits); },
     .flops =
         [](const GateArgs& a) {
           const int passes = (a.qubits.count + 2) / 3;
           return amplitudes(a) * 2 * (a.qubits.count + passes);
         },
     .cases = hadamard_cases.list}};
constinit const Definition<GateArgs> pauli_x_definition{
    {.name = "pauli_x",
     .summary = "X = ((0, 1), (1, 0)) on each of the qubits",
     .source = "Nielsen & Chuang 2000",
     .determinism = Determinism::everywhere,
     .in_place = true},
    {.check = [](const GateArgs& a) { check_named("pauli_x", a.state, a.qubits); },
     .flops = [](const GateArgs&) { return 0.0; },
     .cases = pauli_x_cases.list}};

// Two products by a factor that is rounded once, and a sum, make 4 roundings of an amplitude below 8 sqrt 2.
constexpr double phase64 = 48 * 0x1p-53, phase32 = 48 * 0x1p-24;
constexpr Case<PhaseGateArgs> phase_cases[] = {
    {.name = "one qubit",
     .sizes = {{"...", 3}, {"n", 2}},
     .dtype = DType::c128,
     .tolerance = absolute(phase64),
     .setup = [](PhaseGateArgs& a) { a.angle = std::numbers::pi; }},
    {.name = "qubits 9 and 3 of 10, c64",
     .sizes = {{"...", 2}, {"n", 1024}},
     .dtype = DType::c64,
     .tolerance = absolute(phase32),
     .setup = [](PhaseGateArgs& a) { two_of_ten(a), a.angle = -0.7; }},
    {.name = "5 qubits of 11, c128",
     .sizes = {{"...", 1}, {"n", 2048}},
     .dtype = DType::c128,
     .tolerance = absolute(phase64),
     .setup = [](PhaseGateArgs& a) { all_of_five(a), a.angle = 0.3; }},
    benchmark<PhaseGateArgs>("2^26 c64", 1 << 26, DType::c64),
};
constinit const Definition<PhaseGateArgs> phase_definition{
    {.name = "phase_gate",
     .summary = "P = diag(1, e^{i angle}) on each of the qubits",
     .source = "Nielsen & Chuang 2000",
     .determinism = Determinism::everywhere,
     .in_place = true},
    {.check = [](const PhaseGateArgs& a) { check_named("phase_gate", a.state, a.qubits); },
     .flops = [](const PhaseGateArgs& a) { return 6 * amplitudes(a); },
     .cases = phase_cases}};

void check_cnot(const CnotArgs& a) {
  check_named("cnot", a.state, a.control, "control");
  check_qubits("cnot", "target", a.state, std::array{a.target});
  if (std::ranges::find(a.control, a.target) != a.control.end())
    fail<InvalidArgument>("cnot: target and control both name qubit " + std::to_string(a.target));
}
constexpr Case<CnotArgs> cnot_cases[] = {
    {.name = "two qubits", .sizes = {{"...", 3}, {"n", 4}}, .dtype = DType::c128},
    {.name = "control 9, target 3 of 10, c64",
     .sizes = {{"...", 2}, {"n", 1024}},
     .dtype = DType::c64,
     .setup = [](CnotArgs& a) { a.control = {9}, a.target = 3; }},
    {.name = "Toffoli",
     .sizes = {{"...", 1}, {"n", 2048}},
     .dtype = DType::c128,
     .setup =
         [](CnotArgs& a) {
           a.control = {1, 10}, a.target = 0;
         }},
    benchmark<CnotArgs>("2^26 c64", 1 << 26, DType::c64),
};
constinit const Definition<CnotArgs> cnot_definition{
    {.name = "cnot",
     .summary = "X on the target where all control qubits are 1",
     .source = "Nielsen & Chuang 2000",
     .determinism = Determinism::everywhere,
     .in_place = true},
    {.check = check_cnot, .flops = [](const CnotArgs&) { return 0.0; }, .cases = cnot_cases}};

void hadamard_on_threads(const GateArgs& a, Arena, Stream& s, int) {
  visit_parts(a, [&]<class T> { hadamard_groups<T>(a, cpu::ItemSteps{s}); });
}

}  // namespace

constinit const Op<GateArgs> hadamard{hadamard_definition}, pauli_x{pauli_x_definition};
constinit const Op<PhaseGateArgs> phase_gate{phase_definition};
constinit const Op<CnotArgs> cnot{cnot_definition};
extern constinit const Impl<GateArgs> hadamard_cpu{{.launch = hadamard_on_threads}};
extern constinit const Impl<GateArgs> pauli_x_cpu = cpu::each_item<GateItems<GateArgs, PauliXPair>>();
extern constinit const Impl<PhaseGateArgs> phase_gate_cpu =
    cpu::each_item<GateItems<PhaseGateArgs, PhaseFactor>>();
extern constinit const Impl<CnotArgs> cnot_cpu = cpu::each_item<GateItems<CnotArgs, CnotPair>>();

}  // namespace kolmo
