#include "kolmo/ops/info/kl_divergence/kl_divergence.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/info/kl_divergence/kl_divergence_terms.hpp"
#include "kolmo/skeleton/row_sum_cpu.hpp"

namespace kolmo {
namespace {
using A = KlDivergenceArgs;

/// Makes some quotients of each row differ much from 1, and some probabilities 0.
void ends_of_the_range(A& a) {
  for (std::int64_t i = 0; i < a.p.size(); i += 500) {
    a.p.as<double>()[i] = 0, a.q.as<double>()[i + 1] = 1e-300, a.p.as<double>()[i + 2] = 1e-310;
    a.p.as<double>()[i + 3] = 1e-200, a.q.as<double>()[i + 3] = 1e-250;
  }
}

// The error is 32 roundings (base/sums.hpp) of 2^-53 times the sum of magnitudes |p ln(p/q)|: below 1e-13 up
// to a sum of 18.
constexpr Case<A> cases[] = {
    {.name = "k=1", .sizes = {{"...", 3}, {"k", 1}}, .tolerance = 1e-13},
    {.name = "k=5 f64", .sizes = {{"...", 70}, {"k", 5}}, .tolerance = 1e-13},
    {.name = "k=16 f64", .sizes = {{"...", 150}, {"k", 16}}, .tolerance = 1e-13},
    {.name = "k=12 f32", .sizes = {{"...", 130}, {"k", 12}}, .dtype = DType::f32, .tolerance = 1e-13},
    {.name = "k=33 f32", .sizes = {{"...", 9}, {"k", 33}}, .dtype = DType::f32, .tolerance = 1e-13},
    {.name = "k=1025 f64", .sizes = {{"...", 5}, {"k", 1025}}, .tolerance = 1e-13},
    {.name = "k=5000 f64", .sizes = {{"...", 2}, {"k", 5000}}, .tolerance = 1e-13},
    {.name = "k=5000 f64, ends of the range",
     .sizes = {{"...", 2}, {"k", 5000}},
     .tolerance = 1e-13,
     .setup = ends_of_the_range},
    {.name = "9000 rows of 5 f64", .sizes = {{"...", 9000}, {"k", 5}}, .tolerance = 1e-13},
    {.name = "10^6 rows of 16 f64", .sizes = {{"...", 1000000}, {"k", 16}}, .benchmark_only = true},
    {.name = "one row of 2^24 f64", .sizes = {{"...", 1}, {"k", 1 << 24}}, .benchmark_only = true},
};

constexpr std::string_view faults[] = {"p or q has entries that are negative or not finite"};

constinit const Definition<KlDivergenceArgs> definition{
    {.name = "kl_divergence",
     .summary = "KL(p||q) = sum_i p_i ln(p_i / q_i) along the last axis, in nats",
     .source = "Kullback & Leibler 1951",
     .determinism = Determinism::everywhere,
     .faults = faults},
    // Each pair takes a logarithm (24 operations), a quotient, a product and a sum.
    {.flops = [](const A& a) { return 27.0 * double(a.p.size()); }, .cases = cases}};

}  // namespace

constinit const Op<KlDivergenceArgs> kl_divergence{definition};
extern constinit const Impl<KlDivergenceArgs> kl_divergence_cpu = cpu::row_sum<Divergence>();

}  // namespace kolmo
