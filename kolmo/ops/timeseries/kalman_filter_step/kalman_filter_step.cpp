#include "kolmo/ops/timeseries/kalman_filter_step/kalman_filter_step.hpp"

#include <cmath>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/timeseries/kalman_filter_step/kalman.hpp"
#include "kolmo/skeleton/each_team_cpu.hpp"

namespace kolmo {
namespace {
using A = KalmanFilterStepArgs;

double flops(const A& a) {
  const double n = double(a.x.dim(-1)), m = double(a.z.dim(-1));
  // The full products are F P, P- H', K R, (I - K H) P- and I - K H; symmetric products take half; then come
  // the factor and the gain.
  return double(a.x.size()) / n *
         (4 * n * n * n + 4 * n * n * m + 2 * n * m * m + 2 * n * n * n + n * m * m + n * n * m +
          m * m * m / 3 + 2 * n * m * m);
}

/// Scales F and H to a norm of about 2, so that a step does not amplify its inputs much.
template <class T>
void scale(A& a) {
  const double n = double(a.x.dim(-1));
  for (const Tensor* t :
       {static_cast<const Tensor*>(&a.transition), static_cast<const Tensor*>(&a.observation)})
    for (std::int64_t i = 0; i < t->size(); ++i) t->as<T>()[i] /= T(std::sqrt(n));
}

// The norms |F| and |H| are below 2.2 and the eigenvalues of P, Q and R are from 1 to 6, so |P-| < 35 and the
// condition of S is below 180. P gets twice the error of K (100 n roundings of its own times that condition)
// times |P-|: below 2e-10 for n = 64. Results are below 100 (the log-likelihood: 300), and f32 is rounded
// once, after variances have grown by n + 1 units.
constexpr Tolerance f64 = absolute(2e-10), f32 = {1e-9, 0x1p-23};
constexpr Case<A> cases[] = {
    {.name = "n=m=1", .sizes = {{"...", 3}, {"n", 1}, {"m", 1}}, .tolerance = f64, .setup = scale<double>},
    {.name = "n=4 m=2 f32",
     .sizes = {{"...", 70}, {"n", 4}, {"m", 2}},
     .dtype = DType::f32,
     .tolerance = f32,
     .optional = "innovation gain log_likelihood",
     .setup = scale<float>,
     .tolerances = {{"log_likelihood", f64}, {"covariance_next", {1e-9, 7 * 0x1p-24}}}},
    {.name = "n=3 m=5",
     .sizes = {{"...", 5}, {"n", 3}, {"m", 5}},
     .tolerance = f64,
     .optional = "innovation gain log_likelihood control",
     .setup = scale<double>},
    {.name = "n=m=33",
     .sizes = {{"...", 1}, {"n", 33}, {"m", 33}},
     .tolerance = f64,
     .optional = "gain",
     .setup = scale<double>},
    {.name = "10^5 filters, n=4 m=2 f32",
     .sizes = {{"...", 100000}, {"n", 4}, {"m", 2}},
     .dtype = DType::f32,
     .benchmark_only = true},
    {.name = "1000 filters, n=m=64", .sizes = {{"...", 1000}, {"n", 64}, {"m", 64}}, .benchmark_only = true},
};
constexpr std::string_view faults[] = {"the covariance of the innovation is not positive definite"};

constinit const Definition<A> definition{
    {.name = "kalman_filter_step",
     .summary = "prediction by F and Q, then update by H and R in Joseph's form",
     .source = "Kalman 1960; Bucy & Joseph 1968",
     .matrix_products = true,
     .in_place = true,
     .faults = faults},
    {.check = [](const A& a) { require(a.x.dim(-1) > 0, "kalman_filter_step: x has no components"); },
     .flops = flops,
     .cases = cases}};

}  // namespace

constinit const Op<A> kalman_filter_step{definition};
extern constinit const Impl<A> kalman_filter_step_cpu = cpu::each_team<KalmanFilters>();

}  // namespace kolmo
