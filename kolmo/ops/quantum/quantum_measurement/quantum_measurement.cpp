#include "kolmo/ops/quantum/quantum_measurement/quantum_measurement.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/quantum/quantum_measurement/measure.hpp"
#include "kolmo/runtime/cpu/sum_items.hpp"
#include "kolmo/skeleton/item_steps_cpu.hpp"

namespace kolmo {
namespace {
using A = QuantumMeasurementArgs;

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float>(real_of(a.state.dtype), [&]<class T> {
    const auto sum = [&](bool, const auto& rows, const auto& done, std::int64_t count, std::int64_t k,
                         Sums<1>* partial) {
      sum_rows<1>(rows, done, count, k, partial, SumItems{s.threads()});
    };
    const cpu::ItemSteps each{s};
    measure<T>(a, arena, s.status(), sum, each, each);
  });
}

// A probability is a quotient of sums of at most 8192 positive terms, which take at most 32 roundings each
// (base/sums.hpp): 100 * 2^-53 relative. A collapsed amplitude is at most the norm, below 150 here; it takes half
// of that error, and is rounded to its dtype.
constexpr double p = 100 * 0x1p-53, c128 = 150 * 60 * 0x1p-53, c64 = 150 * 0x1p-24;
constexpr Case<A> cases[] = {
    {.name = "one qubit",
     .sizes = {{"...", 70}, {"n", 2}},
     .dtype = DType::c128,
     .tolerance = relative(p),
     .tolerances = {{"collapsed", absolute(c128)}}},
    {.name = "all of 10, 33 shots, c64",
     .sizes = {{"...", 3}, {"n", 1024}},
     .dtype = DType::c64,
     .tolerance = relative(p),
     .optional = "probabilities",
     .setup = [](A& a) { a.shots = 33, a.seed = 7, a.offset = 5; },
     .tolerances = {{"collapsed", absolute(c64)}}},
    {.name = "all of 10, 130 states, c64",
     .sizes = {{"...", 130}, {"n", 1024}},
     .dtype = DType::c64,
     .tolerance = relative(p),
     .tolerances = {{"collapsed", absolute(c64)}}},
    {.name = "qubits 10 and 2 of 11, c128",
     .sizes = {{"...", 2}, {"n", 2048}},
     .dtype = DType::c128,
     .tolerance = relative(p),
     .optional = "probabilities",
     .setup =
         [](A& a) {
           a.qubits = {10, 2}, a.seed = 3, a.shots = 2;
         },
     .tolerances = {{"collapsed", absolute(c128)}}},
    {.name = "qubit 0 of 13, c64",
     .sizes = {{"...", 1}, {"n", 8192}},
     .dtype = DType::c64,
     .tolerance = relative(p),
     .setup = [](A& a) { a.qubits = {0}; },
     .tolerances = {{"collapsed", absolute(c64)}}},
    {.name = "all of 2^26 c64",
     .sizes = {{"...", 1}, {"n", 1 << 26}},
     .dtype = DType::c64,
     .benchmark_only = true},
    {.name = "one qubit of 2^26 c64",
     .sizes = {{"...", 1}, {"n", 1 << 26}},
     .dtype = DType::c64,
     .benchmark_only = true,
     .setup = [](A& a) { a.qubits = {25}; }},
};

constexpr std::string_view faults[] = {"the norm of the state is 0 or not finite"};

constinit const Definition<A> definition{
    {.name = "quantum_measurement",
     .summary =
         "outcomes of P(o) = sum |a_i|^2 over the amplitudes of o, and the state collapsed by the first",
     .source = "Nielsen & Chuang 2000",
     .determinism = Determinism::everywhere,
     .in_place = true,
     .faults = faults},
    {.check = [](const A& a) { check_qubits("quantum_measurement", "qubits", a.state, a.qubits); },
     .sizes = [](const A& a, Dims& dims) { dims.set("outcomes", MeasuredQubits(a).outcomes); },
     // Each amplitude takes a squared modulus and its sum, then two products.
     .flops = [](const A& a) { return 6.0 * double(a.state.size()); },
     .cases = cases}};

}  // namespace

constinit const Op<A> quantum_measurement{definition};
extern constinit const Impl<A> quantum_measurement_cpu{
    {.launch = launch, .lay = [](Arena& arena, const A& a, const Site&) { lay_measurement(arena, a); }}};

}  // namespace kolmo
