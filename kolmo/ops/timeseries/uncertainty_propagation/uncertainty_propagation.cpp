#include "kolmo/ops/timeseries/uncertainty_propagation/uncertainty_propagation.hpp"

#include <cmath>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/timeseries/uncertainty_propagation/propagation.hpp"
#include "kolmo/skeleton/each_team_cpu.hpp"

namespace kolmo {
namespace {
using A = UncertaintyPropagationArgs;

double flops(const A& a) {
  const double n = double(a.x.dim(-1));
  return double(a.x.size()) * double(a.horizon) * (3 * n * n + 3 * n);
}

/// Scales F to a norm of about 1, so that nothing explodes.
template <class T>
void tame(A& a) {
  const double n = double(a.x.dim(-1));
  for (std::int64_t i = 0; i < a.transition.size(); ++i) a.transition.as<T>()[i] /= T(2 * std::sqrt(n));
}

// The norm |F| is below 1.1, and P and Q have eigenvalues below 6, so after 40 steps |P| < 6 + 40 * 7. Every
// step adds n + 2 roundings of P, which the following steps amplify by |F|^2 each: 40 * 1.21^40 at most, in
// fact less than 40. f32 is rounded once.
constexpr Tolerance f64 = absolute(40 * 40 * 300 * 0x1p-53), f32 = {1e-9, 0x1p-23};
constexpr Case<A> cases[] = {
    {.name = "n=1",
     .sizes = {{"...", 3}, {"n", 1}},
     .tolerance = f64,
     .optional = "lower upper",
     .setup = [](A& a) { tame<double>(a), a.horizon = 40; }},
    {.name = "n=4 f32",
     .sizes = {{"...", 70}, {"n", 4}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = "upper",
     .setup = [](A& a) { tame<float>(a), a.horizon = 7, a.level = 0.5; }},
    {.name = "n=17",
     .sizes = {{"...", 2}, {"n", 17}},
     .tolerance = f64,
     .setup = [](A& a) { tame<double>(a), a.horizon = 3; }},
    {.name = "10^4 systems, n=8, 50 steps f32",
     .sizes = {{"...", 10000}, {"n", 8}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = [](A& a) { a.horizon = 50; }},
};

constexpr std::string_view faults[] = {"a variance is negative or NaN: P or Q is no covariance"};

constinit const Definition<A> definition{
    {.name = "uncertainty_propagation",
     .summary = "x_h = F x_(h-1), P_h = F P_(h-1) F' + Q, and prediction intervals over a horizon",
     .source = "Jazwinski 1970",
     .matrix_products = true,
     .in_place = true,
     .faults = faults},
    {.check = [](const A& a) { require(a.x.dim(-1) > 0, "uncertainty_propagation: x has no components"); },
     .flops = flops,
     .cases = cases}};

}  // namespace

constinit const Op<A> uncertainty_propagation{definition};
extern constinit const Impl<A> uncertainty_propagation_cpu = cpu::each_team<Propagations>();

}  // namespace kolmo
