#include "kolmo/ops/timeseries/ar_forecast/ar_forecast.hpp"

#include <string>

#include "kolmo/op/define.hpp"
#include "kolmo/ops/timeseries/ar_forecast/autoregression.hpp"
#include "kolmo/skeleton/each_team_cpu.hpp"

namespace kolmo {
namespace {
using A = ArForecastArgs;

void check(const A& a) {
  require(a.model.given() == (a.fit == ArFit::given),
          "ar_forecast: model is given if and only if fit is 'given'");
  if (a.model.given() && a.model.dim(-1) != a.order)
    fail<InvalidArgument>("ar_forecast: model has " + std::to_string(a.model.dim(-1)) +
                          " coefficients, but order is " + std::to_string(a.order));
  const bool squares = a.fit == ArFit::least_squares;
  const std::int64_t needed =
      a.difference + a.order + (squares ? a.order + (a.trend == ArTrend::constant) : 1);
  if (a.x.dim(-1) < needed)
    fail<InvalidArgument>("ar_forecast: x has " + std::to_string(a.x.dim(-1)) + " samples; order " +
                          std::to_string(a.order) + ", difference " + std::to_string(a.difference) +
                          " and fit " + std::string(ar_fit_names[std::size_t(a.fit)]) + " need " +
                          std::to_string(needed) +
                          (squares ? " or more; a lower order or fit burg needs fewer" : " or more"));
}
double flops(const A& a) {
  const double n = double(a.x.dim(-1)), p = double(a.order), h = double(a.horizon);
  // Each autocovariance takes a sum and a product for each sample, and a stage of Burg's method five of each or less.
  // Least squares take them for each pair of lags, and in three passes; then follow the recursions.
  const double fit = a.fit == ArFit::burg            ? 9 * n * p
                     : a.fit == ArFit::least_squares ? n * p * (p + 15) + p * p * p / 3
                                                     : 2 * n * p;
  return double(a.noise_variance.size()) * (fit + 2 * p * p + 4 * h * p);
}

/// Makes random walks, which phi < 1 pulls back to 0, so that there is something to fit.
template <class T>
void accumulate(A& a, double phi) {
  const std::int64_t n = a.x.dim(-1);
  for (std::int64_t i = 0; i < a.x.size(); ++i)
    if (i % n) a.x.as<T>()[i] += T(phi) * a.x.as<T>()[i - 1];
}

// r_k has the error of a sum of n <= 1025 terms, which is n roundings of r_0. The condition of the normal
// equations is that of the spectrum for phi = 0.7, (1.7 / 0.3)^2 = 32. The given model forecasts without
// growth.
constexpr double t = 1025 * 32 * 0x1p-53;
// The lags of a random walk of n samples have a condition of about n; that of the differences is less. The error of a
// forecast grows by each of up to 20 steps.
constexpr double squares = 20 * 1025 * 203 * 0x1p-53;
constexpr Case<A> cases[] = {
    {.name = "n=2",
     .sizes = {{"...", 3}, {"n", 2}},
     .tolerance = t,
     .optional = "lower upper",
     .setup = [](A& a) { a.horizon = 3, a.fit = ArFit::yule_walker; }},
    {.name = "least squares 4, n=203, unit root",
     .sizes = {{"...", 3}, {"n", 203}},
     .tolerance = squares,
     .optional = "lower upper constant",
     .setup = [](A& a) { accumulate<double>(a, 1), a.order = 4, a.horizon = 8; }},
    {.name = "least squares 9, n=40 f32, no constant",
     .sizes = {{"...", 5}, {"n", 40}},
     .dtype = DType::f32,
     .tolerance = squares,
     .optional = "constant",
     .setup = [](A& a) { accumulate<float>(a, 0.7), a.order = 9, a.horizon = 4, a.trend = ArTrend::none; }},
    {.name = "least squares 2, difference 1, n=1025",
     .sizes = {{"...", 2}, {"n", 1025}},
     .tolerance = squares,
     .optional = "lower upper constant",
     .setup = [](A& a) { accumulate<double>(a, 1), a.order = 2, a.horizon = 20, a.difference = 1; }},
    {.name = "Burg 3, difference 2, n=129",
     .sizes = {{"...", 2}, {"n", 129}},
     .tolerance = t,
     .optional = "constant",
     .setup =
         [](A& a) {
           accumulate<double>(a, 1), a.order = 3, a.horizon = 20, a.fit = ArFit::burg, a.difference = 2;
         }},
    {.name = "Yule-Walker 5, n=1000",
     .sizes = {{"...", 2}, {"n", 1000}},
     .tolerance = t,
     .setup =
         [](A& a) { accumulate<double>(a, 0.7), a.order = 5, a.horizon = 33, a.fit = ArFit::yule_walker; }},
    {.name = "Burg 12, n=200 f32",
     .sizes = {{"...", 9}, {"n", 200}},
     .dtype = DType::f32,
     .tolerance = t,
     .optional = "upper",
     .setup =
         [](A& a) {
           accumulate<float>(a, 0.7), a.order = 12, a.horizon = 20, a.fit = ArFit::burg, a.level = 0.8;
         }},
    {.name = "Burg 3, n=1025, mean kept",
     .sizes = {{"...", 2}, {"n", 1025}},
     .tolerance = t,
     .setup =
         [](A& a) { accumulate<double>(a, 0.7), a.order = 3, a.fit = ArFit::burg, a.trend = ArTrend::none; }},
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
    {.name = "10^4 series of 1000, least squares 10, 20 ahead f32",
     .sizes = {{"...", 10000}, {"n", 1000}},
     .dtype = DType::f32,
     .benchmark_only = true,
     .setup = [](A& a) { a.order = 10, a.horizon = 20; }},
};

constinit const Definition<A> definition{
    {.name = "ar_forecast",
     .summary = "forecasts of x_t = c + sum_i phi_i x_(t-i) + e_t with intervals, fitted by least squares, "
                "Yule-Walker or Burg",
     .source = "Box & Jenkins 1970; Burg 1975; Brockwell & Davis 1991"},
    {.check = check, .flops = flops, .cases = cases}};

}  // namespace

constinit const Op<A> ar_forecast{definition};
extern constinit const Impl<A> ar_forecast_cpu = cpu::each_team<Autoregressions>();

}  // namespace kolmo
