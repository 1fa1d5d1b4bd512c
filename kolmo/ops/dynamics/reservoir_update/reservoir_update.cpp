#include "kolmo/ops/dynamics/reservoir_update/reservoir_update.hpp"

#include "kolmo/op/define.hpp"
#include "kolmo/ops/dynamics/reservoir_update/reservoir.hpp"
#include "kolmo/skeleton/item_steps_cpu.hpp"

namespace kolmo {
namespace {
using A = ReservoirUpdateArgs;

void launch(const A& a, Arena arena, Stream& s, int) {
  visit<double, float>(a.state.dtype, [&]<class T> { update_reservoir<T>(a, arena, s, cpu::ItemSteps{s}); });
}

void check(const A& a) {
  check_sparse("reservoir_update", "weights", a.weights, a.offsets, a.columns, a.values);
  require(a.weights.given() || a.offsets.given(),
          "reservoir_update: neither weights nor a sparse matrix is given");
}
double flops(const A& a) {
  const double n = double(a.state.dim(-1)), pairs = a.weights.given() ? n * n : double(a.columns.size());
  // A neuron takes products and sums, and 30 operations for a hyperbolic tangent.
  return double(a.state.size()) / n * (2 * n * double(a.input.dim(-1)) + 2 * pairs + 33 * n);
}

/// Draws a random sparse matrix with rows of three sizes, the last of which is 0.
void draw_sparse(A& a, CaseRandom& random) {
  const std::int64_t n = a.state.dim(-1), e = a.columns.size();
  auto* const offsets = a.offsets.as<std::int64_t>();
  for (std::int64_t i = 0; i <= n; ++i) offsets[i] = i < n - 1 ? i / 3 * 3 * e / n : e;
  for (std::int64_t i = 0; i < e; ++i) a.columns.as<std::int64_t>()[i] = random.below(n);
}

// tanh does not increase errors, so the error is that of a sum of K = n + k products of normal numbers, whose
// partial sums are near sqrt K. K roundings of these add up like a random walk (Higham & Mary 2019), to less
// than 4 K + 32 units together with the rest.
constexpr double bound(double terms) { return 4 * terms + 32; }
constexpr Case<A> cases[] = {
    {.name = "one neuron",
     .sizes = {{"...", 3}, {"n", 1}, {"k", 1}},
     .tolerance = absolute(bound(2) * 0x1p-53),
     .optional = "weights bias"},
    {.name = "n=65 k=3, leaking, f32",
     .sizes = {{"...", 5}, {"n", 65}, {"k", 3}},
     .dtype = DType::f32,
     .tolerance = absolute(bound(68) * 0x1p-24),
     .optional = "weights",
     .setup = [](A& a) { a.leak = 0.3; }},
    {.name = "sparse, n=100 and 333 elements",
     .sizes = {{"...", 2}, {"n", 100}, {"k", 7}, {"e", 333}},
     .tolerance = absolute(bound(20) * 0x1p-53),
     .optional = "offsets columns values bias",
     .setup = [](A& a) { a.leak = 0.5; },
     .draw = draw_sparse},
    {.name = "one state of n=600 k=2, f32",
     .sizes = {{"...", 1}, {"n", 600}, {"k", 2}},
     .dtype = DType::f32,
     .tolerance = absolute(bound(602) * 0x1p-24),
     .optional = "weights bias",
     .setup = [](A& a) { a.leak = 0.3; }},
    {.name = "4096 neurons, one state, f32",
     .sizes = {{"...", 1}, {"n", 4096}, {"k", 64}},
     .dtype = DType::f32,
     .optional = "weights",
     .benchmark_only = true},
    {.name = "1024 neurons, 1024 states, f32",
     .sizes = {{"...", 1024}, {"n", 1024}, {"k", 64}},
     .dtype = DType::f32,
     .optional = "weights",
     .benchmark_only = true},
};

constinit const Definition<A> definition{
    {.name = "reservoir_update",
     .summary = "s' = (1 - a) s + a tanh(W_in u + W s + bias), W dense or sparse",
     .source = "Jaeger et al. 2007",
     .matrix_products = true,
     .in_place = true,
     .faults = sparse_faults},
    {.check = check, .flops = flops, .cases = cases}};

}  // namespace

constinit const Op<A> reservoir_update{definition};
extern constinit const Impl<A> reservoir_update_cpu{
    {.launch = launch,
     .lay = [](Arena& arena, const A& a, const Site& site) { ReservoirSums(arena, a).lay(arena, site); }}};

}  // namespace kolmo
