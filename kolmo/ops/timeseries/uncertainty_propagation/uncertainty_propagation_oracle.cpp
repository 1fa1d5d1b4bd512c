#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/timeseries/uncertainty_propagation/uncertainty_propagation.hpp"

namespace kolmo::check {
namespace {
using A = UncertaintyPropagationArgs;

/// Computes from the powers of F: x_h = F^h x, P_h = F^h P F^h' + sum over k < h of F^k Q F^k'.
void expected(const A& a) {
  const std::int64_t n = a.x.dim(-1);
  const long double z =
      boost::math::quantile(boost::math::normal_distribution<long double>(), (1 + a.level) / 2);
  using Matrix = std::vector<long double>;
  const auto at = [n](std::int64_t i, std::int64_t j) { return std::size_t(i * n + j); };
  for (std::int64_t b = 0; b < a.x.size() / n; ++b) {
    Matrix power(std::size_t(n * n), 0), noise = power;
    for (std::int64_t i = 0; i < n; ++i) power[at(i, i)] = 1;
    const auto between = [&](const Tensor& m, std::int64_t i, std::int64_t j) {
      long double sum = 0;
      for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t l = 0; l < n; ++l)
          sum += power[at(i, k)] * get(m, (b * n + k) * n + l) * power[at(j, l)];
      return sum;
    };
    for (std::int64_t h = 0; h < a.horizon; ++h) {
      Matrix next(power.size(), 0);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t k = 0; k < n; ++k)
            next[at(i, j)] += get(a.transition, (b * n + i) * n + k) * power[at(k, j)];
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) noise[at(i, j)] += between(a.process_noise, i, j);
      power = next;
      for (std::int64_t i = 0; i < n; ++i) {
        long double mean = 0;
        for (std::int64_t k = 0; k < n; ++k) mean += power[at(i, k)] * get(a.x, b * n + k);
        const long double variance = between(a.covariance, i, i) + noise[at(i, i)];
        const std::int64_t to = (b * a.horizon + h) * n + i;
        put(a.mean, to, mean), put(a.variance, to, variance);
        if (a.lower.given()) put(a.lower, to, mean - z * std::sqrt(variance));
        if (a.upper.given()) put(a.upper, to, mean + z * std::sqrt(variance));
      }
    }
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        put(a.covariance_end, (b * n + i) * n + j, between(a.covariance, i, j) + noise[at(i, j)]);
  }
}

constexpr Fact facts[] = {
    {"a random walk: the variance grows by Q in each step; 95 % is 1.959964 deviations",
     [](Stream& s) {
       double x = 2, p = 1, f = 1, q = 3, mean[5], variance[5], lower[5], upper[5], end = 0;
       call(uncertainty_propagation,
            {.x = tensor(&x, {1}),
             .covariance = tensor(&p, {1, 1}),
             .transition = tensor(&f, {1, 1}),
             .process_noise = tensor(&q, {1, 1}),
             .mean = tensor(mean, {5, 1}),
             .variance = tensor(variance, {5, 1}),
             .covariance_end = tensor(&end, {1, 1}),
             .lower = tensor(lower, {5, 1}),
             .upper = tensor(upper, {5, 1}),
             .horizon = 5},
            s);
       expect(mean[4] == 2 && variance[0] == 4 && variance[4] == 16 && end == 16, "mean and variance");
       expect_near(upper[4], 2 + 4 * 1.959963984540054, 1e-14, "upper");
       expect_near(lower[4], 2 - 4 * 1.959963984540054, 1e-14, "lower");
     }},
    {"constant velocity: a position's variance grows with the square of time",
     [](Stream& s) {
       double x[] = {0, 1}, p[] = {0, 0, 0, 0.25}, f[] = {1, 1, 0, 1}, q[4] = {}, mean[6], variance[6],
              end[4];
       call(uncertainty_propagation,
            {.x = tensor(x, {2}),
             .covariance = tensor(p, {2, 2}),
             .transition = tensor(f, {2, 2}),
             .process_noise = tensor(q, {2, 2}),
             .mean = tensor(mean, {3, 2}),
             .variance = tensor(variance, {3, 2}),
             .covariance_end = tensor(end, {2, 2}),
             .horizon = 3},
            s);
       expect(mean[4] == 3 && variance[0] == 0.25 && variance[4] == 2.25 && end[1] == 0.75 && end[2] == 0.75,
              "wrong moments");
     }},
    {"a variance below 0, given or reached, is a fault of its item; unchecked, its interval is NaN",
     [](Stream& s) {
       for (const bool given : {true, false}) {
         double x[4] = {}, p[] = {1, 0, 0, 1, 1, given ? 0. : 2., 7, given ? -1. : 1.}, f[] = {1, -1, 0, 1},
                q[4] = {}, mean[4], variance[4], lower[4], end[8];
         const A a{.x = tensor(x, {2, 2}),
                   .covariance = tensor(p, {2, 2, 2}),
                   .transition = tensor(f, {2, 2}),
                   .process_noise = tensor(q, {2, 2}),
                   .mean = tensor(mean, {2, 1, 2}),
                   .variance = tensor(variance, {2, 1, 2}),
                   .covariance_end = tensor(end, {2, 2, 2}),
                   .lower = tensor(lower, {2, 1, 2})};
         expect_invalid(
             [&] { call(uncertainty_propagation, a, s); },
             "uncertainty_propagation: a variance is negative or NaN: P or Q is no covariance at element 1");
         s.check_data(false);
         call(uncertainty_propagation, a, s);
         s.check_data(true);
         expect(variance[0] == 2 && lower[0] < 0 && std::isnan(lower[given ? 3 : 2]), "unchecked");
       }
     }},
    {"a variance of 0 that rounding pushes below is 0: the difference of two equal components",
     [](Stream& s) {
       for (int i = 1; i <= 50; ++i) {  // the second component is c times the first
         const double c = 1.0 / i;
         float x[2] = {}, p[] = {1, float(c), float(c), float(c * c)}, f[] = {float(-c), 1, 0, 1}, q[4] = {},
               mean[2], variance[2], lower[2], end[4];
         call(uncertainty_propagation,
              {.x = tensor(x, {2}),
               .covariance = tensor(p, {2, 2}),
               .transition = tensor(f, {2, 2}),
               .process_noise = tensor(q, {2, 2}),
               .mean = tensor(mean, {1, 2}),
               .variance = tensor(variance, {1, 2}),
               .covariance_end = tensor(end, {2, 2}),
               .lower = tensor(lower, {1, 2})},
              s);
         expect(variance[0] >= 0 && variance[0] < 1e-6 && lower[0] <= 0, "c = 1 / " + std::to_string(i));
       }
     }},
};

}  // namespace

extern constinit const Oracle<A> uncertainty_propagation_oracle{uncertainty_propagation, expected, facts};

}  // namespace kolmo::check
