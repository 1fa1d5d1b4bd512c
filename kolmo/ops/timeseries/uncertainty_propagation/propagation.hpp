#pragma once
#include <cmath>

#include "kolmo/base/normal_quantile.hpp"
#include "kolmo/ops/timeseries/uncertainty_propagation/uncertainty_propagation.hpp"
#include "kolmo/skeleton/batch_walk.hpp"
#include "kolmo/skeleton/each_team.hpp"
#include "kolmo/skeleton/team_matrix.hpp"

namespace kolmo {

template <class T>
struct Propagation {
  const T *x, *p, *transition, *noise;
  T *mean, *variance, *end, *lower, *upper;
  std::int64_t n, batch, horizon;
  double z;
  Walk<2> walk;

  explicit Propagation(const UncertaintyPropagationArgs& a)
      : x(a.x.as<T>()),
        p(a.covariance.as<T>()),
        transition(a.transition.as<T>()),
        noise(a.process_noise.as<T>()),
        mean(a.mean.as<T>()),
        variance(a.variance.as<T>()),
        end(a.covariance_end.as<T>()),
        lower(a.lower.as<T>()),
        upper(a.upper.as<T>()),
        n(a.x.dim(-1)),
        batch(n ? a.x.size() / n : 0),
        horizon(a.horizon),
        z(two_sided_quantile(a.level)) {
    const Tensor* const in[] = {&a.transition, &a.process_noise};
    walk = batch_walk<2>(a.x, 1, in, 2);
  }
  std::int64_t items() const { return batch; }
  KOLMO_HD std::int64_t scratch() const { return 2 * n * n + 2 * n; }
  std::int64_t width() const { return n * n; }

  template <class Team>
  KOLMO_HD void operator()(std::int64_t item, const Team& team, double* memory) const {
    std::int64_t place[2];
    walk.at(item, place);
    const T *F = transition + place[0], *Q = noise + place[1];
    double *P = memory, *work = P + n * n, *state = work + n * n, *next = state + n;
    team.each(n * n, [&](std::int64_t at) { P[at] = symmetric(p + item * n * n, n, at / n, at % n); });
    team.each(n, [&](std::int64_t i) { state[i] = double(x[item * n + i]); });
    team.sync();
    for (std::int64_t h = 0; h < horizon; ++h) {
      multiply(
          team, n, n, n, [&](std::int64_t i, std::int64_t k) { return double(F[i * n + k]); },
          [&](std::int64_t k, std::int64_t j) { return P[k * n + j]; }, work);
      upper_triangle(team, n, [&](std::int64_t i, std::int64_t j) {
        double sum = double(Q[i * n + j]);
        for (std::int64_t k = 0; k < n; ++k) sum += work[i * n + k] * double(F[j * n + k]);
        P[i * n + j] = P[j * n + i] = sum;
      });
      team.each(n, [&](std::int64_t i) {
        double sum = 0;
        for (std::int64_t k = 0; k < n; ++k) sum += double(F[i * n + k]) * state[k];
        next[i] = sum;
        const std::int64_t to = (item * horizon + h) * n + i;
        const double width = z * std::sqrt(P[i * n + i]);
        mean[to] = T(sum), variance[to] = T(P[i * n + i]);
        if (lower) lower[to] = T(sum - width);
        if (upper) upper[to] = T(sum + width);
      });
      team.sync();
      double* const before = state;
      state = next, next = before;
    }
    team.each(n * n, [&](std::int64_t at) { end[item * n * n + at] = T(P[at]); });
  }
};
using Propagations =
    Items<UncertaintyPropagationArgs, Propagation, &UncertaintyPropagationArgs::x, double, float>;

}  // namespace kolmo
