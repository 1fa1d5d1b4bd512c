#include "kolmo/ops/dynamics/order_parameter/order_parameter.hpp"

#include <cmath>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/dynamics/order_parameter/order_parameter_terms.hpp"
#include "kolmo/skeleton/row_sum_cpu.hpp"

namespace kolmo {
namespace {
using A = OrderParameterArgs;

template <class T>
struct UnitVectors {
  const T* theta;
  std::int64_t n;

  struct Row {
    const T* theta;
    KOLMO_HD Sums<2> operator()(std::int64_t i) const {
      return {{std::cos(double(theta[i])), std::sin(double(theta[i]))}};
    }
  };
  KOLMO_HD Row operator()(std::int64_t row) const { return {theta + row * n}; }
};

// r: sine and cosine err by 2 ulp; a sum of n terms below 1 adds at most 32 roundings (base/sums.hpp) and is
// divided by n. The error of psi is that of r divided by r, which is above 0.02 / sqrt n in these cases;
// `psi` holds for n up to 10^4.
constexpr double r = 40 * 0x1p-53, psi = 40 * 5000 * 0x1p-53;
/// Makes phases of either sign and of every size, up to 10^8.
void large(A& a, CaseRandom&) {
  for (std::int64_t i = 0; i < a.theta.size(); ++i) a.theta.as<double>()[i] *= std::pow(10.0, double(i % 9));
}
constexpr Case<A> cases[] = {
    {.name = "n=1", .sizes = {{"...", 3}, {"n", 1}}, .tolerance = r},
    {.name = "n=33", .sizes = {{"...", 70}, {"n", 33}}, .tolerance = r, .tolerances = {{"psi", psi}}},
    {.name = "n=1025 f32",
     .sizes = {{"...", 5}, {"n", 1025}},
     .dtype = DType::f32,
     .tolerance = r,
     .tolerances = {{"psi", psi}}},
    {.name = "n=5000", .sizes = {{"...", 2}, {"n", 5000}}, .tolerance = r, .tolerances = {{"psi", psi}}},
    {.name = "large phases",
     .sizes = {{"...", 20}, {"n", 40}},
     .tolerance = r,
     .draw = large,
     .tolerances = {{"psi", psi}}},
    {.name = "n=540000 f32",
     .sizes = {{"...", 1}, {"n", 540000}},
     .dtype = DType::f32,
     .tolerance = r,
     .tolerances = {{"psi", 8 * psi}}},
    {.name = "n=2^26 f32",
     .sizes = {{"...", 1}, {"n", 1 << 26}},
     .dtype = DType::f32,
     .benchmark_only = true},
};

constinit const Definition<A> definition{
    {.name = "order_parameter",
     .summary = "r e^{i psi} = (1/n) sum_j e^{i theta_j} along the last axis",
     .source = "Kuramoto 1984"},
    // Each phase takes a sine and cosine (40 operations) and two sums.
    {.flops = [](const A& a) { return 42.0 * double(a.theta.size()); }, .cases = cases}};

}  // namespace

constinit const Op<A> order_parameter{definition};
extern constinit const Impl<A> order_parameter_cpu = cpu::row_sum<OrderSums<UnitVectors>>();

}  // namespace kolmo
