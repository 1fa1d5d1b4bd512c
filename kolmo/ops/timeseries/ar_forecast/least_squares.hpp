#pragma once
#include "kolmo/skeleton/each_team.hpp"

namespace kolmo {

/// Regression of samples on the `order` samples before each, by a team of threads.
struct LagRegression {
  std::int64_t order, samples;
  bool constant;
  double* memory;  ///< scratch() doubles

  KOLMO_HD static std::int64_t scratch(std::int64_t order, std::int64_t samples) {
    return pairs(order) + 3 * order + 1 + samples;
  }

  /// Solves the normal equations, whose matrix is factored as L D L'. Each pass adds the solution for the errors that are
  /// left, which brings back the digits that the products of the lags lost. Sets phi; the first thread sets c and sigma2.
  template <class Team, class Sample>
  KOLMO_HD void fit(const Team& team, const Sample& sample, double* phi, double* c, double* sigma2) const {
    constexpr int passes = 3;
    double *means = memory, *gradient = means + order + 1, *inverse = gradient + order,
           *factor = inverse + order, *errors = factor + pairs(order);
    const std::int64_t rows = samples - order;
    const auto lagged = [&](std::int64_t t, std::int64_t lag) {
      return sample(order + t - lag) - means[lag];
    };
    for (std::int64_t lag = 0; lag <= order; ++lag) {
      const double sum =
          constant ? team_sum(team, rows, [&](std::int64_t t) { return sample(order + t - lag); }) : 0;
      if (team.first()) means[lag] = sum / double(rows);
    }
    team.each(order, [&](std::int64_t i) { phi[i] = 0; });
    team.sync();
    for (std::int64_t i = 0; i < order; ++i)
      for (std::int64_t j = 0; j <= i; ++j) {
        const double sum =
            team_sum(team, rows, [&](std::int64_t t) { return lagged(t, i + 1) * lagged(t, j + 1); });
        if (team.first()) factor[pairs(i) + j] = sum;
      }
    team.sync();
    factorise(team, factor, inverse);
    for (int pass = 0; pass <= passes; ++pass) {
      team.each(rows, [&](std::int64_t t) {
        double error = lagged(t, 0);
        for (std::int64_t i = 0; i < order; ++i) error -= phi[i] * lagged(t, i + 1);
        errors[t] = error;
      });
      team.sync();
      if (pass == passes) break;
      for (std::int64_t i = 0; i < order; ++i) {
        const double sum = team_sum(team, rows, [&](std::int64_t t) { return lagged(t, i + 1) * errors[t]; });
        if (team.first()) gradient[i] = sum;
      }
      if (team.first()) add_solution(factor, inverse, gradient, phi);
      team.sync();
    }
    const double squares = team_sum(team, rows, [&](std::int64_t t) { return errors[t] * errors[t]; });
    if (!team.first()) return;
    *sigma2 = squares / double(rows), *c = means[0];
    for (std::int64_t i = 0; i < order; ++i) *c -= phi[i] * means[i + 1];
  }

 private:
  /// Number of pairs of lags, counting each pair once and each lag with itself.
  KOLMO_HD static std::int64_t pairs(std::int64_t lags) { return lags * (lags + 1) / 2; }

  /// Puts L D in place of the matrix, and 1 / D into `inverse`: 0 for a lag that depends on the ones before it.
  template <class Team>
  KOLMO_HD void factorise(const Team& team, double* factor, double* inverse) const {
    constexpr double dependent = 0x1p-40;
    for (std::int64_t j = 0; j < order; ++j) {
      team.each(order - j, [&](std::int64_t below) {
        const std::int64_t i = j + below;
        const double whole = factor[pairs(i) + j];
        double left = whole;
        for (std::int64_t k = 0; k < j; ++k) left -= factor[pairs(i) + k] * factor[pairs(j) + k] * inverse[k];
        factor[pairs(i) + j] = left;
        if (i == j) inverse[j] = left <= dependent * whole ? 0 : 1 / left;
      });
      team.sync();
    }
  }

  /// Adds the solution for this gradient, which is used up, to phi.
  KOLMO_HD void add_solution(const double* factor, const double* inverse, double* gradient,
                             double* phi) const {
    for (std::int64_t i = 0; i < order; ++i) {
      for (std::int64_t k = 0; k < i; ++k) gradient[i] -= factor[pairs(i) + k] * gradient[k];
      gradient[i] *= inverse[i];
    }
    for (std::int64_t i = order - 1; i >= 0; --i) {
      for (std::int64_t k = i + 1; k < order; ++k)
        gradient[i] -= inverse[i] * factor[pairs(k) + i] * gradient[k];
      phi[i] += gradient[i];
    }
  }
};

}  // namespace kolmo
