#include "kolmo/ops/spiking/stdp_update/stdp_update.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/spiking/stdp_update/synapse.hpp"
#include "kolmo/skeleton/steps_cpu.hpp"

namespace kolmo {
namespace {
using A = StdpUpdateArgs;

void check(const A& a) {
  require(a.tau_plus > 0 && a.tau_minus > 0, "stdp_update: tau_plus and tau_minus must be above 0");
  require(a.low <= a.high, "stdp_update: low must not exceed high");
}

/// Makes few spikes, and changes that reach the bounds.
void sparse(A& a, CaseRandom& random) {
  for (const Tensor& t : {Tensor(a.pre), Tensor(a.post)})
    for (std::int64_t i = 0; i < t.size(); ++i) t.as<bool>()[i] = random.uniform() < 0.1;
  a.a_plus = 0.3, a.a_minus = 0.4, a.tau_minus = 0.03, a.low = 0.2, a.high = 0.8;
}

// The decay and up to seven sums and products of numbers below 2 are rounded.
constexpr double f64 = 16 * 0x1p-53, f32 = 16 * 0x1p-24;
constexpr Case<A> cases[] = {
    {.name = "one", .sizes = {{"...", 1}, {"m", 1}, {"n", 1}}, .tolerance = f64},
    {.name = "7 x 33 f64", .sizes = {{"...", 3}, {"m", 7}, {"n", 33}}, .tolerance = f64},
    {.name = "65 x 17 f32",
     .sizes = {{"...", 2}, {"m", 65}, {"n", 17}},
     .dtype = DType::f32,
     .tolerance = f32},
    {.name = "33 x 20 f32",
     .sizes = {{"...", 2}, {"m", 33}, {"n", 20}},
     .dtype = DType::f32,
     .tolerance = f32},
    {.name = "21 x 40 f32",
     .sizes = {{"...", 2}, {"m", 21}, {"n", 40}},
     .dtype = DType::f32,
     .tolerance = f32},
    {.name = "40 x 50 f64, few spikes",
     .sizes = {{"...", 1}, {"m", 40}, {"n", 50}},
     .tolerance = f64,
     .draw = sparse},
    {.name = "4096 x 4096 f32",
     .sizes = {{"...", 1}, {"m", 4096}, {"n", 4096}},
     .dtype = DType::f32,
     .benchmark_only = true},
    {.name = "4096 x 4096 f32, few spikes",
     .sizes = {{"...", 1}, {"m", 4096}, {"n", 4096}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .draw = sparse},
};

constinit const Definition<A> definition{
    {.name = "stdp_update",
     .summary =
         "w <- clip(w - a_minus y) at presynaptic, clip(w + a_plus x) at postsynaptic spikes, by traces",
     .source = "Song, Miller & Abbott 2000; Brian2",
     .determinism = Determinism::everywhere},
    {.check = check, .flops = [](const A& a) { return 7.0 * double(a.weight.size()); }, .cases = cases}};

}  // namespace

constinit const Op<A> stdp_update{definition};
extern constinit const Impl<A> stdp_update_cpu{{.launch = [](const A& a, Arena, Stream& s, int) {
  stdp_steps(a, [&](const auto& f) { cpu::do_step(f, s, 1 << 14); });
}}};

}  // namespace kolmo
