#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/info/free_energy/free_energy.hpp"

namespace kolmo::check {
namespace {
using A = FreeEnergyArgs;

void expected(const A& a) {
  const std::int64_t k = a.q.extent[std::size_t(a.q.rank - 1)];
  for (std::int64_t row = 0; row < a.free_energy.size(); ++row) {
    long double complexity = 0, accuracy = 0;
    for (std::int64_t i = row * k; i < (row + 1) * k; ++i) {
      const long double q = get(a.q, i);
      if (q == 0) continue;
      complexity += q * std::log(q / get(a.p, i)), accuracy += q * get(a.log_likelihood, i);
    }
    put(a.free_energy, row, complexity - accuracy);
    if (a.complexity.given()) put(a.complexity, row, complexity);
    if (a.accuracy.given()) put(a.accuracy, row, accuracy);
  }
}

double energy(std::vector<double> q, std::vector<double> p, std::vector<double> log_likelihood, Stream& s) {
  double f = -1;
  const auto k = std::int64_t(q.size());
  call(free_energy,
       {.q = tensor(q.data(), {k}),
        .p = tensor(p.data(), {k}),
        .log_likelihood = tensor(log_likelihood.data(), {k}),
        .free_energy = tensor(&f, {})},
       s);
  return f;
}

constexpr double inf = HUGE_VAL;

constexpr Fact facts[] = {
    {"at the posterior F = -ln p(o); any other belief has more",
     [](Stream& s) {
       // prior (1/2, 1/4, 1/4), likelihood (1/2, 1/4, 0): p(o) = 5/16, posterior (4/5, 1/5, 0)
       const std::vector<double> p = {0.5, 0.25, 0.25}, log_l = {-std::log(2.0), -std::log(4.0), -inf};
       const double surprise = std::log(16.0 / 5);
       expect_near(energy({0.8, 0.2, 0}, p, log_l, s), surprise, 1e-15, "F of the posterior");
       for (const double q : {0.1, 0.5, 0.79, 0.81, 1.0})
         expect(energy({q, 1 - q, 0}, p, log_l, s) > surprise, "below the bound");
     }},
    {"F = complexity - accuracy",
     [](Stream& s) {
       double q[] = {1, 0}, p[] = {0.5, 0.5}, l[] = {-3, -7}, f = 0, complexity = 0, accuracy = 0;
       call(free_energy,
            {.q = tensor(q, {2}),
             .p = tensor(p, {2}),
             .log_likelihood = tensor(l, {2}),
             .free_energy = tensor(&f, {}),
             .complexity = tensor(&complexity, {}),
             .accuracy = tensor(&accuracy, {})},
            s);
       expect_near(complexity, std::log(2.0), 1e-15, "complexity");
       expect(accuracy == -3, "accuracy");
       expect_near(f, std::log(2.0) + 3, 1e-15, "F");
     }},
    {"infinite where a belief contradicts prior or observation; beliefs of 0 do not count",
     [](Stream& s) {
       expect(energy({0.5, 0.5}, {1, 0}, {0, 0}, s) == inf, "p = 0");
       expect(energy({0.5, 0.5}, {0.5, 0.5}, {0, -inf}, s) == inf, "impossible observation");
       expect(energy({1, 0}, {1, 0}, {0, -inf}, s) == 0, "0 ln 0");
     }},
    {"entries that are no probabilities or log-likelihoods are faults; unchecked, F is NaN",
     [](Stream& s) {
       const auto refused = [&](std::vector<double> q, std::vector<double> p, std::vector<double> log_l,
                                const char* what) {
         expect_invalid([&] { energy(q, p, log_l, s); }, what);
         s.check_data(false);
         expect(std::isnan(energy(q, p, log_l, s)), "unchecked");
         s.check_data(true);
       };
       constexpr auto
           beliefs = "free_energy: q or p has entries that are negative or not finite at element 0",
           likelihood =
               "free_energy: log_likelihood has entries that are NaN, or infinite with q > 0 at element 0";
       refused({-0.5, 1.5}, {0.5, 0.5}, {0, 0}, beliefs);
       refused({0.5, 0.5}, {-0.5, 1.5}, {0, 0}, beliefs);
       refused({std::nan(""), 1}, {0.5, 0.5}, {0, 0}, beliefs);
       refused({0, 1}, {0.5, 0.5}, {std::nan(""), 0}, likelihood);
       refused({0.5, 0.5}, {0.5, 0.5}, {0, inf}, likelihood);
     }},
};

}  // namespace

extern constinit const Oracle<A> free_energy_oracle{free_energy, expected, facts};

}  // namespace kolmo::check
