#include "kolmo/ops/neurons/dendritic_integration/dendritic_integration.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/neurons/dendritic_integration/dendrites.hpp"
#include "kolmo/skeleton/each_team_cpu.hpp"

namespace kolmo {
namespace {
using A = DendriticIntegrationArgs;

void check(const A& a) { require(a.weights.dim(0) > 0, "dendritic_integration: weights are of no neuron"); }

double flops(const A& a) {
  const double synapses = double(a.soma.size()) * double(a.weights.dim(1)) * double(a.weights.dim(2));
  // Each synapse takes a product and a sum (or two products and a sum), the function of a branch 40
  // operations.
  return (a.nonlinearity == Dendrite::multiplicative ? 3 : 2) * synapses +
         40 * double(a.soma.size()) * double(a.weights.dim(1));
}

void in_millivolts(A& a) {
  a.nonlinearity = Dendrite::nmda, a.magnesium = 1.2, a.reversal = 5;
  for (std::int64_t i = 0; i < a.weights.size(); ++i) a.weights.as<double>()[i] *= 3;
}
void spiking(A& a) {
  a.nonlinearity = Dendrite::back_propagation, a.threshold = -0.5, a.gain = 2, a.decay = 0.3;
}
void multiplying(A& a) {
  a.nonlinearity = Dendrite::multiplicative, a.saturation = 2;
  for (std::int64_t i = 0; i < a.weights.size(); ++i) a.weights.as<double>()[i] /= 8;
}

// A drive is a sum of at most 130 products of normal numbers (for nmda 3 times as large): its error is below
// 130 * 0.64 * 130 * 3 * 2^-53 = 4e-12, far less in practice. The slope of a branch is at most 2 (nmda:
// 1 + 0.062 * 100), and there are 9 branches; soma and branches are below 2^9. f32 is rounded once.
constexpr Tolerance f64 = absolute(1e-11), f32 = {1e-7, 0x1p-23};
constexpr Case<A> cases[] = {
    {.name = "one synapse", .sizes = {{"...", 3}, {"n", 1}, {"b", 1}, {"i", 1}}, .tolerance = f64},
    {.name = "sigmoid f32",
     .sizes = {{"...", 5}, {"n", 7}, {"b", 4}, {"i", 33}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = "branches",
     .setup = [](A& a) { a.threshold = 0.5, a.steepness = 2; }},
    {.name = "nmda",
     .sizes = {{"...", 2}, {"n", 3}, {"b", 9}, {"i", 130}},
     .tolerance = f64,
     .optional = "branches",
     .setup = in_millivolts},
    {.name = "back_propagation",
     .sizes = {{"...", 4}, {"n", 5}, {"b", 3}, {"i", 17}},
     .tolerance = f64,
     .optional = "branches",
     .setup = spiking},
    {.name = "multiplicative",
     .sizes = {{"...", 2}, {"n", 4}, {"b", 5}, {"i", 20}},
     .tolerance = f64,
     .setup = multiplying},
    {.name = "256 samples, 1024 neurons of 16 x 64, f32",
     .sizes = {{"...", 256}, {"n", 1024}, {"b", 16}, {"i", 64}},
     .dtype = DType::f32,
     .benchmark_only = true},
};

constinit const Definition<A> definition{
    {.name = "dendritic_integration",
     .summary = "soma = sum_b f(sum_i w_bi x_bi) with the nonlinearity f of dendritic branches",
     .source = "Poirazi, Brannon & Mel 2003; Jahr & Stevens 1990; Stuart & Sakmann 1994; Koch & Poggio 1992"},
    {.check = check, .flops = flops, .cases = cases}};

}  // namespace

constinit const Op<A> dendritic_integration{definition};
extern constinit const Impl<A> dendritic_integration_cpu = cpu::each_team<DendriticNeurons>();

}  // namespace kolmo
