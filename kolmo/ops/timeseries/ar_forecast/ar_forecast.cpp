#include "kolmo/ops/timeseries/ar_forecast/ar_forecast.hpp"

#include <string>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/timeseries/ar_forecast/autoregression.hpp"
#include "kolmo/skeleton/each_team_cpu.hpp"

namespace kolmo {
namespace {
using A = ArForecastArgs;

void check(const A& a) {
  if (a.model.given() && a.model.dim(-1) != a.order)
    fail<InvalidArgument>("ar_forecast: model has " + std::to_string(a.model.dim(-1)) +
                          " coefficients, but order is " + std::to_string(a.order));
  if (a.x.dim(-1) <= a.order)
    fail<InvalidArgument>("ar_forecast: x has " + std::to_string(a.x.dim(-1)) + " samples, but order " +
                          std::to_string(a.order) + " needs more than that");
  require(a.model.given() == (a.fit == ArFit::given),
          "ar_forecast: model is given if and only if fit is 'given'");
}
double flops(const A& a) {
  const double n = double(a.x.dim(-1)), p = double(a.order), h = double(a.horizon);
  // Each autocovariance takes a sum and a product for each sample, a stage of Burg's method five of each or
  // less; then follow the recursions.
  const double fit = a.fit == ArFit::burg ? 9 * n * p : 2 * n * p;
  return double(a.noise_variance.size()) * (fit + 2 * p * p + 4 * h * p);
}

/// Makes random walks that are pulled back to 0, so that there is something to fit.
template <class T>
void correlate(A& a) {
  const std::int64_t n = a.x.dim(-1);
  for (std::int64_t i = 0; i < a.x.size(); ++i)
    if (i % n) a.x.as<T>()[i] += T(0.7) * a.x.as<T>()[i - 1];
}

// r_k has the error of a sum of n <= 1025 terms, which is n roundings of r_0. The condition of the normal
// equations is that of the spectrum for phi = 0.7, (1.7 / 0.3)^2 = 32. The given model forecasts without
// growth.
constexpr double t = 1025 * 32 * 0x1p-53;
constexpr Case<A> cases[] = {
    {.name = "n=2",
     .sizes = {{"...", 3}, {"n", 2}},
     .tolerance = t,
     .optional = "lower upper",
     .setup = [](A& a) { a.horizon = 3; }},
    {.name = "Yule-Walker 5, n=1000",
     .sizes = {{"...", 2}, {"n", 1000}},
     .tolerance = t,
     .setup = [](A& a) { correlate<double>(a), a.order = 5, a.horizon = 33; }},
    {.name = "Burg 12, n=200 f32",
     .sizes = {{"...", 9}, {"n", 200}},
     .dtype = DType::f32,
     .tolerance = t,
     .optional = "upper",
     .setup =
         [](A& a) { correlate<float>(a), a.order = 12, a.horizon = 20, a.fit = ArFit::burg, a.level = 0.8; }},
    {.name = "Burg 3, n=1025, mean kept",
     .sizes = {{"...", 2}, {"n", 1025}},
     .tolerance = t,
     .setup = [](A& a) { correlate<double>(a), a.order = 3, a.fit = ArFit::burg, a.keep_mean = true; }},
    {.name = "model of order 2, n=300",
     .sizes = {{"...", 3}, {"n", 300}, {"order", 2}},
     .tolerance = t,
     .optional = "model",
     .setup =
         [](A& a) {
           a.fit = ArFit::given, a.horizon = 9;
           for (std::int64_t i = 0; i < a.model.size(); ++i) a.model.as<double>()[i] /= 8;
         }},
    {.name = "10^4 series of 1000, Burg 10, 20 ahead f32",
     .sizes = {{"...", 10000}, {"n", 1000}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = [](A& a) { a.order = 10, a.horizon = 20, a.fit = ArFit::burg; }},
};

constinit const Definition<A> definition{
    {.name = "ar_forecast",
     .summary = "forecasts of x_t = sum_i phi_i x_(t-i) + e_t with variances, phi by Yule-Walker or Burg",
     .source = "Box & Jenkins 1970; Burg 1975; Brockwell & Davis 1991"},
    {.check = check, .flops = flops, .cases = cases}};

}  // namespace

constinit const Op<A> ar_forecast{definition};
extern constinit const Impl<A> ar_forecast_cpu = cpu::each_team<Autoregressions>();

}  // namespace kolmo
