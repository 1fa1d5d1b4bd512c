#include "kolmo/ops/info/free_energy/free_energy.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/info/free_energy/free_energy_terms.hpp"
#include "kolmo/skeleton/row_sum_cpu.hpp"

namespace kolmo {
namespace {
using A = FreeEnergyArgs;

// The error is that of kl_divergence: 32 roundings of 2^-53 times the sums of magnitudes, which are below 18.
constexpr Case<A> cases[] = {
    {.name = "k=1", .sizes = {{"...", 3}, {"k", 1}}, .tolerance = 1e-13},
    {.name = "k=5 f64",
     .sizes = {{"...", 70}, {"k", 5}},
     .tolerance = 1e-13,
     .optional = "complexity accuracy"},
    {.name = "k=16 f64", .sizes = {{"...", 150}, {"k", 16}}, .tolerance = 1e-13},
    {.name = "k=12 f32", .sizes = {{"...", 130}, {"k", 12}}, .dtype = DType::f32, .tolerance = 1e-13},
    {.name = "k=33 f32",
     .sizes = {{"...", 9}, {"k", 33}},
     .dtype = DType::f32,
     .tolerance = 1e-13,
     .optional = "accuracy"},
    {.name = "k=1025 f64", .sizes = {{"...", 5}, {"k", 1025}}, .tolerance = 1e-13, .optional = "complexity"},
    {.name = "k=5000 f64", .sizes = {{"...", 2}, {"k", 5000}}, .tolerance = 1e-13},
    {.name = "9000 rows of 3 f64", .sizes = {{"...", 9000}, {"k", 3}}, .tolerance = 1e-13},
    {.name = "10^6 rows of 16 f64", .sizes = {{"...", 1000000}, {"k", 16}}, .benchmark_only = true},
};

constexpr std::string_view faults[] = {"q or p has entries that are negative or not finite",
                                       "log_likelihood has entries that are NaN, or infinite with q > 0"};

constinit const Definition<A> definition{
    {.name = "free_energy",
     .summary = "F = KL(q||p) - E_q[ln p(o|s)] of categorical beliefs along the last axis, in nats",
     .source = "Parr, Pezzulo & Friston 2022",
     .determinism = Determinism::everywhere,
     .faults = faults},
    // Each state takes a logarithm (24 operations), a quotient, two products and two sums.
    {.flops = [](const A& a) { return 29.0 * double(a.q.size()); }, .cases = cases}};

}  // namespace

constinit const Op<A> free_energy{definition};
extern constinit const Impl<A> free_energy_cpu = cpu::row_sum<FreeEnergySums>();

}  // namespace kolmo
