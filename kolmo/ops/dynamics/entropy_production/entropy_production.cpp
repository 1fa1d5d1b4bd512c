#include "kolmo/ops/dynamics/entropy_production/entropy_production.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/dynamics/entropy_production/flux_terms.hpp"
#include "kolmo/skeleton/row_sum_cpu.hpp"

namespace kolmo {
namespace {
using A = EntropyProductionArgs;

// A term takes a logarithm below 16 with 1 ulp of error, or two, and 6 more roundings, and the sum of terms, which are
// positive, at most 32 (base/sums.hpp). Where fluxes are nearly equal, the error of a term is that of the quotient or of
// the logarithms, at most 2^-49 of a flux; there are terms enough that are not small.
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
    // A logarithm (24 operations), a quotient, two products with p, a difference, a product and a sum a pair.
    {.flops = [](const A& a) { return 15.0 * double(a.rates.size()); }, .cases = cases}};

}  // namespace

constinit const Op<A> entropy_production{definition};
extern constinit const Impl<A> entropy_production_cpu = cpu::row_sum<FluxSums>();

}  // namespace kolmo
