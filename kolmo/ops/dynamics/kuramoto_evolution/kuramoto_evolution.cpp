#include "kolmo/ops/dynamics/kuramoto_evolution/kuramoto_evolution.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/dynamics/kuramoto_evolution/kuramoto_steps.hpp"
#include "kolmo/runtime/cpu/sum_items.hpp"
#include "kolmo/skeleton/item_steps_cpu.hpp"

namespace kolmo {
namespace {
using A = KuramotoEvolutionArgs;

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float>(a.theta.dtype, [&]<class T> {
    evolve<T>(a, KuramotoSpace(arena, a), s.status(), SumItems{s.threads()}, cpu::ItemSteps{s});
  });
}

double flops(const A& a) {
  const double n = double(a.theta.dim(-1)), stages = double(a.steps) * (a.method == Integrator::rk4 ? 4 : 1);
  const double pairs = a.offsets.given() ? double(a.columns.size()) : a.adjacency.given() ? n * n : n;
  // A phase takes a sine and cosine (40 operations), two sums, and the step.
  return stages * double(a.theta.size()) / n * (50 * n + 4 * pairs);
}

/// Draws a random sparse matrix: most rows have about the same number of elements, some have none.
void draw_sparse(A& a, CaseRandom& random) {
  const std::int64_t n = a.theta.dim(-1), e = a.columns.size();
  for (std::int64_t i = 0; i <= n; ++i) a.offsets.as<std::int64_t>()[i] = i / 3 * 3 * e / (n / 3 * 3);
  for (std::int64_t i = 0; i < e; ++i) a.columns.as<std::int64_t>()[i] = random.below(n);
  a.offsets.as<std::int64_t>()[n] = e;
}

// In a step, a phase below 16 gets the errors of 10 operations on numbers of its size, and K dt / N times the
// errors of n summands below |A| (at most 32 roundings of 0.8 n). The flow expands errors by at most e^(2 K
// t) < 8 here. A 32-bit result is rounded once, below 16.
constexpr Tolerance f64 = absolute(8 * 5 * (10 * 16 + 32) * 0x1p-53), f32 = absolute(16 * 0x1p-24);
constexpr Case<A> cases[] = {
    {.name = "n=1", .sizes = {{"...", 3}, {"n", 1}}, .tolerance = f64},
    {.name = "n=257, 5 steps of RK4",
     .sizes = {{"...", 2}, {"n", 257}},
     .tolerance = f64,
     .setup = [](A& a) { a.strength = 2, a.dt = 0.1, a.steps = 5; }},
    {.name = "n=2049, Euler, f32",
     .sizes = {{"...", 1}, {"n", 2049}},
     .dtype = DType::f32,
     .tolerance = f32,
     .setup = [](A& a) { a.strength = 3, a.dt = 0.05, a.steps = 2, a.method = Integrator::euler; }},
    {.name = "dense, n=65",
     .sizes = {{"...", 2}, {"n", 65}},
     .tolerance = f64,
     .optional = "adjacency",
     .setup = [](A& a) { a.strength = -2, a.dt = 0.1, a.steps = 3; }},
    {.name = "dense, n=33, f32",
     .sizes = {{"...", 3}, {"n", 33}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = "adjacency",
     .setup = [](A& a) { a.steps = 2; }},
    {.name = "sparse, n=100 and 333 elements",
     .sizes = {{"...", 2}, {"n", 100}, {"e", 333}},
     .tolerance = f64,
     .optional = "offsets columns values",
     .setup = [](A& a) { a.strength = 5, a.dt = 0.1, a.steps = 3; },
     .draw = draw_sparse},
    {.name = "10 steps of 2^22 oscillators, f32",
     .sizes = {{"...", 1}, {"n", 1 << 22}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = [](A& a) { a.steps = 10; }},
    {.name = "10 steps of 4096 oscillators, dense f32",
     .sizes = {{"...", 1}, {"n", 4096}},
     .dtype = DType::f32,
     .optional = "adjacency",
     .benchmark_only = true,
     .setup = [](A& a) { a.steps = 10; }},
};

constinit const Definition<A> definition{
    {.name = "kuramoto_evolution",
     .summary = "d theta_i / dt = omega_i + (K / N) sum_j A_ij sin(theta_j - theta_i), by Euler or RK4",
     .source = "Kuramoto 1975; Acebron et al. 2005",
     .in_place = true,
     .faults = sparse_faults},
    {.check =
         [](const A& a) {
           check_sparse("kuramoto_evolution", "adjacency", a.adjacency, a.offsets, a.columns, a.values);
         },
     .flops = flops,
     .cases = cases}};

}  // namespace

constinit const Op<A> kuramoto_evolution{definition};
extern constinit const Impl<A> kuramoto_evolution_cpu{
    {.launch = launch, .lay = [](Arena& arena, const A& a, const Site&) { KuramotoSpace(arena, a); }}};

}  // namespace kolmo
