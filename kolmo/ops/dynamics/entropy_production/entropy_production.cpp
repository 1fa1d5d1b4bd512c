#include "kolmo/ops/dynamics/entropy_production/entropy_production.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/op/impl.hpp"
#include "kolmo/ops/dynamics/entropy_production/flux_terms.hpp"
#include "kolmo/runtime/cpu/sum_items.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo {
namespace {
using A = EntropyProductionArgs;

// A term takes either one logarithm within 6 roundings, or two of 1 ulp below 16, and 6 more roundings. The
// terms are positive; their sum over a state, and the sum over all states, add at most 32 roundings each
// (base/sums.hpp). Where two logarithms of nearly equal fluxes are taken, the error of a term is 2^-49 of a
// flux; the cases have enough other terms that this is small in the sum.
constexpr double t = 100 * 0x1p-53;
constexpr Case<A> cases[] = {
    {.name = "n=1", .sizes = {{"...", 3}, {"n", 1}}},
    {.name = "n=2", .sizes = {{"...", 70}, {"n", 2}}, .tolerance = t, .optional = "p"},
    {.name = "n=33 f32",
     .sizes = {{"...", 2}, {"n", 33}},
     .dtype = DType::f32,
     .tolerance = t,
     .optional = "p"},
    {.name = "n=65, fluxes", .sizes = {{"...", 3}, {"n", 65}}, .tolerance = t},
    {.name = "n=300", .sizes = {{"...", 2}, {"n", 300}}, .tolerance = t, .optional = "p"},
    {.name = "n=8192 f32",
     .sizes = {{"...", 1}, {"n", 8192}},
     .dtype = DType::f32,
     .optional = "p",
     .benchmark_only = true},
};

constexpr std::string_view faults[] = {"fluxes are negative or not finite"};

constinit const Definition<A> definition{
    {.name = "entropy_production",
     .summary = "sum over pairs of (p_i W_ij - p_j W_ji) ln(p_i W_ij / (p_j W_ji)), in nats",
     .source = "Schnakenberg 1976",
     .determinism = Determinism::everywhere,
     .faults = faults},
    // A pair takes a logarithm (30 operations), two products with p, a difference, a product and a sum.
    {.flops = [](const A& a) { return 17.5 * double(a.rates.size()); }, .cases = cases}};

}  // namespace

constinit const Op<A> entropy_production{definition};
extern constinit const Impl<A> entropy_production_cpu{
    {.launch = [](const A& a, Arena arena, Stream& s,
                  int) { produce_entropy(a, arena, s.status(), SumItems{s.threads()}); },
     .lay = [](Arena& arena, const A& a, const Site&) { FluxScratch(arena, a); }}};

}  // namespace kolmo
