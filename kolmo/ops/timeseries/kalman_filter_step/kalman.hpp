#pragma once
#include <cmath>

#include "kolmo/ops/timeseries/kalman_filter_step/kalman_filter_step.hpp"
#include "kolmo/skeleton/batch_walk.hpp"
#include "kolmo/skeleton/each_team.hpp"
#include "kolmo/skeleton/team_matrix.hpp"

namespace kolmo {

template <class T>
struct KalmanFilter {
  enum { f, q, h, r, shared };
  const T *x, *p, *z, *control, *model[shared];
  T *x_next, *p_next, *innovation, *gain;
  double* log_likelihood;
  std::int64_t n, m, filters;
  Walk<shared> walk;
  Status status;

  explicit KalmanFilter(const KalmanFilterStepArgs& a)
      : x(a.x.as<T>()),
        p(a.covariance.as<T>()),
        z(a.z.as<T>()),
        control(a.control.as<T>()),
        model{a.transition.as<T>(), a.process_noise.as<T>(), a.observation.as<T>(),
              a.measurement_noise.as<T>()},
        x_next(a.x_next.as<T>()),
        p_next(a.covariance_next.as<T>()),
        innovation(a.innovation.as<T>()),
        gain(a.gain.as<T>()),
        log_likelihood(a.log_likelihood.as<double>()),
        n(a.x.dim(-1)),
        m(a.z.dim(-1)),
        filters(n ? a.x_next.size() / n : 0) {
    const Tensor* const in[] = {&a.transition, &a.process_noise, &a.observation, &a.measurement_noise};
    walk = batch_walk<shared>(a.x_next, 1, in, 2);
  }
  std::int64_t items() const { return filters; }
  KOLMO_HD std::int64_t scratch() const { return 3 * n * n + 3 * n * m + m * m + n + 2 * m; }
  std::int64_t width() const { return n * (n > m ? n : m); }

  template <class Team>
  KOLMO_HD void operator()(std::int64_t item, const Team& team, double* memory) const {
    std::int64_t place[shared];
    walk.at(item, place);
    const T *F = model[f] + place[f], *Q = model[q] + place[q], *H = model[h] + place[h],
            *R = model[r] + place[r];
    const T *state = x + item * n, *P = p + item * n * n;
    double *predicted = memory, *prior = predicted + n, *work = prior + n * n, *left = work + n * n,
           *cross = left + n * n, *K = cross + n * m, *noise = K + n * m, *S = noise + n * m, *y = S + m * m,
           *v = y + m;

    // Prediction.
    team.each(n, [&](std::int64_t i) {
      double sum = control ? double(control[item * n + i]) : 0;
      for (std::int64_t k = 0; k < n; ++k) sum += double(F[i * n + k]) * double(state[k]);
      predicted[i] = sum;
    });
    const auto of_f = [&](std::int64_t i, std::int64_t k) { return double(F[i * n + k]); };
    const auto of_p = [&](std::int64_t i, std::int64_t k) { return symmetric(P, n, i, k); };
    multiply(team, n, n, n, of_f, of_p, work);
    upper_triangle(team, n, [&](std::int64_t i, std::int64_t j) {
      double sum = double(Q[i * n + j]);
      for (std::int64_t k = 0; k < n; ++k) sum += work[i * n + k] * double(F[j * n + k]);
      prior[i * n + j] = prior[j * n + i] = sum;
    });

    // The innovation, and its covariance S = L L'.
    const auto of_prior = [&](std::int64_t i, std::int64_t k) { return prior[i * n + k]; };
    const auto of_ht = [&](std::int64_t k, std::int64_t j) { return double(H[j * n + k]); };
    multiply(team, n, m, n, of_prior, of_ht, cross);
    team.each(m, [&](std::int64_t i) {
      double sum = double(z[item * m + i]);
      for (std::int64_t k = 0; k < n; ++k) sum -= double(H[i * n + k]) * predicted[k];
      y[i] = sum;
    });
    upper_triangle(team, m, [&](std::int64_t i, std::int64_t j) {
      double sum = double(R[i * m + j]);
      for (std::int64_t k = 0; k < n; ++k) sum += double(H[i * n + k]) * cross[k * m + j];
      S[i * m + j] = S[j * m + i] = sum;
    });
    if (!factorize(team, S) && team.first()) status.report(0, item);

    // The gain, and y' S^-1 y, which is v' v with L v = y.
    team.each(n + 1, [&](std::int64_t i) {
      if (i < n)
        solve(cross + i * m, S, K + i * m);
      else
        substitute(y, S, v);
    });
    team.sync();

    // Update.
    team.each(n * n, [&](std::int64_t at) {
      const std::int64_t i = at / n, j = at - i * n;
      double sum = i == j ? 1 : 0;
      for (std::int64_t k = 0; k < m; ++k) sum -= K[i * m + k] * double(H[k * n + j]);
      left[at] = sum;
    });
    const auto of_r = [&](std::int64_t k, std::int64_t j) { return symmetric(R, m, k, j); };
    multiply(
        team, n, m, m, [&](std::int64_t i, std::int64_t k) { return K[i * m + k]; }, of_r, noise);
    multiply(
        team, n, n, n, [&](std::int64_t i, std::int64_t k) { return left[i * n + k]; }, of_prior, work);
    upper_triangle(team, n, [&](std::int64_t i, std::int64_t j) {
      double sum = 0;
      for (std::int64_t k = 0; k < n; ++k) sum += work[i * n + k] * left[j * n + k];
      for (std::int64_t k = 0; k < m; ++k) sum += noise[i * m + k] * K[j * m + k];
      if (sizeof(T) == 4 && i == j) sum *= 1 + double(n + 1) * 0x1p-24;  // outweighs all roundings of a row
      T* const to = p_next + item * n * n;
      to[i * n + j] = to[j * n + i] = T(sum);
    });
    team.each(n, [&](std::int64_t i) {
      double sum = predicted[i];
      for (std::int64_t k = 0; k < m; ++k) sum += K[i * m + k] * y[k];
      x_next[item * n + i] = T(sum);
      for (std::int64_t k = 0; gain && k < m; ++k) gain[(item * n + i) * m + k] = T(K[i * m + k]);
    });
    if (innovation) team.each(m, [&](std::int64_t i) { innovation[item * m + i] = T(y[i]); });
    if (log_likelihood && team.first()) {
      double sum = double(m) * 1.83787706640934548356;  // ln 2 pi
      for (std::int64_t i = 0; i < m; ++i) sum += v[i] * v[i] + 2 * std::log(S[i * m + i]);
      log_likelihood[item] = -0.5 * sum;
    }
  }

 private:
  /// Replaces the lower triangle of S by L. Returns whether S is positive definite.
  template <class Team>
  KOLMO_HD bool factorize(const Team& team, double* S) const {
    bool positive = true;
    for (std::int64_t k = 0; k < m; ++k) {
      const double pivot = S[k * m + k], root = std::sqrt(pivot);
      positive = positive && pivot > 0;
      team.sync();
      team.each(m - k, [&](std::int64_t i) { S[(k + i) * m + k] = i ? S[(k + i) * m + k] / root : root; });
      team.sync();
      team.each((m - k - 1) * (m - k - 1), [&](std::int64_t at) {
        const std::int64_t rest = m - k - 1, i = k + 1 + at / rest, j = k + 1 + at % rest;
        if (j <= i) S[i * m + j] -= S[i * m + k] * S[j * m + k];
      });
      team.sync();
    }
    return positive;
  }
  /// Solves L w = b.
  KOLMO_HD void substitute(const double* b, const double* L, double* w) const {
    for (std::int64_t i = 0; i < m; ++i) {
      double sum = b[i];
      for (std::int64_t k = 0; k < i; ++k) sum -= L[i * m + k] * w[k];
      w[i] = sum / L[i * m + i];
    }
  }
  /// Solves L L' w = b.
  KOLMO_HD void solve(const double* b, const double* L, double* w) const {
    substitute(b, L, w);
    for (std::int64_t i = m - 1; i >= 0; --i) {
      double sum = w[i];
      for (std::int64_t k = i + 1; k < m; ++k) sum -= L[k * m + i] * w[k];
      w[i] = sum / L[i * m + i];
    }
  }
};
using KalmanFilters = Items<KalmanFilterStepArgs, KalmanFilter, &KalmanFilterStepArgs::x, double, float>;

}  // namespace kolmo
