#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/dynamics/entropy_production/entropy_production.hpp"

namespace kolmo::check {
namespace {
using A = EntropyProductionArgs;

/// Computes half the sum over all ordered pairs.
void expected(const A& a) {
  const std::int64_t n = a.rates.dim(-1);
  for (std::int64_t b = 0; b < a.production.size(); ++b) {
    const auto flux = [&](std::int64_t i, std::int64_t j) {
      return (a.p.given() ? get(a.p, b * n + i) : 1) * get(a.rates, (b * n + i) * n + j);
    };
    long double sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        if (i != j && flux(i, j) != flux(j, i))
          sum += (flux(i, j) - flux(j, i)) * std::log(flux(i, j) / flux(j, i)) / 2;
    put(a.production, b, sum);
  }
}

double production(std::vector<double> rates, std::vector<double> p, Stream& s) {
  double sigma = -1;
  const auto n = std::int64_t{std::lround(std::sqrt(double(rates.size())))};
  A a{.rates = tensor(rates.data(), {n, n}), .production = tensor(&sigma, {})};
  if (!p.empty()) a.p = tensor(p.data(), {n});
  call(entropy_production, a, s);
  return sigma;
}

constexpr Fact facts[] = {
    {"a cycle of three states with rates a forward, b backward: (a - b) ln(a / b)",
     [](Stream& s) {
       const double a = 2, b = 0.5, third = 1. / 3;
       expect_near(production({9, a, b, b, 9, a, a, b, 9}, {third, third, third}, s), 1.5 * std::log(4.0),
                   1e-15, "cycle");
     }},
    {"two states in equilibrium produce nothing; out of it (p W_01 - q W_10) ln(p W_01 / (q W_10))",
     [](Stream& s) {
       expect(production({0, 2, 1, 0}, {0.25, 0.5}, s) == 0, "balance");
       expect_near(production({0, 2, 1, 0}, {0.5, 0.5}, s), 0.5 * std::log(2.0), 1e-15, "two states");
     }},
    {"a symmetric matrix of fluxes produces nothing; a one-way flux infinitely much",
     [](Stream& s) {
       expect(production({5, 0.3, 0, 0.3, 1, 0.7, 0, 0.7, 2}, {}, s) == 0, "symmetric");
       expect(std::isinf(production({0, 0.3, 0, 0}, {}, s)), "one way");
     }},
    {"of two states among 70 that are in equilibrium one flux is subnormal",
     [](Stream& s) {
       const int n = 70, i = 3, j = 50;
       const double small = 1e-310, expected = 0.5 * (std::log(0.5) - std::log(small));
       for (const bool back : {false, true}) {
         std::vector<double> rates(n * n, 1);
         rates[i * n + j] = back ? small : 0.5, rates[j * n + i] = back ? 0.5 : small;
         expect_near(production(rates, {}, s) / expected, 1, 1e-15, "production");
       }
     }},
    {"fluxes that are none are faults; unchecked, the result is NaN",
     [](Stream& s) {
       for (const double wrong : {-0.3, std::nan(""), double(INFINITY)}) {
         expect_invalid(
             [&] {
               production({0, wrong, 0.3, 0}, {}, s);
             },
             "entropy_production: fluxes are negative or not finite at element 0");
         s.check_data(false);
         expect(std::isnan(production({0, wrong, 0.3, 0}, {}, s)), "unchecked");
         s.check_data(true);
       }
       expect(production({-1, 0.3, 0.3, std::nan("")}, {}, s) == 0, "the diagonal does not count");
     }},
};

}  // namespace

extern constinit const Oracle<A> entropy_production_oracle{entropy_production, expected, facts};

}  // namespace kolmo::check
