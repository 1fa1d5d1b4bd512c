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
  Status status;

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
  KOLMO_HD std::int64_t scratch() const { return 2 * n * n + 4 * n; }
  std::int64_t width() const { return n * n; }

  template <class Team>
  KOLMO_HD void operator()(std::int64_t item, const Team& team, double* memory) const {
    std::int64_t place[2];
    walk.at(item, place);
    const T *F = transition + place[0], *Q = noise + place[1];
    double *P = memory, *work = P + n * n, *state = work + n * n, *next = state + 2 * n;
    team.each(n * n, [&](std::int64_t at) { P[at] = symmetric(p + item * n * n, n, at / n, at % n); });
    team.each(n, [&](std::int64_t i) {
      const auto variance_now = double(p[(item * n + i) * n + i]);
      state[i] = double(x[item * n + i]), state[n + i] = variance_now;
      if (!(variance_now >= 0 && double(Q[i * n + i]) >= 0)) status.report(0, item);
    });
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
        double& spread = P[i * n + i];
        if (!(spread >= 0)) {
          if (spread >= -rounding(F + i * n, state + n, double(Q[i * n + i]), h))
            spread = 0;
          else
            status.report(0, item);
        }
        next[i] = sum, next[n + i] = spread;
        const std::int64_t to = (item * horizon + h) * n + i;
        const double width = z * std::sqrt(spread);
        mean[to] = T(sum), variance[to] = T(spread);
        if (lower) lower[to] = T(sum - width);
        if (upper) upper[to] = T(sum + width);
      });
      team.sync();
      double* const before = state;
      state = next, next = before;
    }
    team.each(n * n, [&](std::int64_t at) { end[item * n * n + at] = T(P[at]); });
  }

 private:
  /// Bounds how far below 0 rounding may push a variance that is 0, such as that of the difference of two
  /// equal components. The bound follows from |P_kl| <= sqrt(P_kk P_ll): first T rounds P and Q, then the
  /// sums over n round, in h + 1 steps.
  KOLMO_HD double rounding(const T* row, const double* variances, double noise_variance,
                           std::int64_t h) const {
    double largest = 0;
    for (std::int64_t k = 0; k < n; ++k) largest += std::fabs(double(row[k])) * std::sqrt(variances[k]);
    constexpr double unit = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
    return 4 * unit * double(n + 2) * double(h + 1) * (largest * largest + noise_variance);
  }
};
using Propagations =
    Items<UncertaintyPropagationArgs, Propagation, &UncertaintyPropagationArgs::x, double, float>;

}  // namespace kolmo
