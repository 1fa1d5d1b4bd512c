#pragma once
#include <cmath>

#include "kolmo/base/normal_quantile.hpp"
#include "kolmo/ops/timeseries/ar_forecast/ar_forecast.hpp"
#include "kolmo/ops/timeseries/ar_forecast/least_squares.hpp"
#include "kolmo/skeleton/batch_walk.hpp"
#include "kolmo/skeleton/each_team.hpp"

namespace kolmo {

template <class T>
struct Autoregression {
  const T *x, *model;
  double *forecast, *variance, *coefficients, *noise_variance, *lower, *upper, *constant;
  std::int64_t n, series, order, horizon, difference;
  ArFit fit;
  bool trend;
  double z;
  Walk<1> walk;

  explicit Autoregression(const ArForecastArgs& a)
      : x(a.x.as<T>()),
        model(a.model.as<T>()),
        forecast(a.forecast.as<double>()),
        variance(a.variance.as<double>()),
        coefficients(a.coefficients.as<double>()),
        noise_variance(a.noise_variance.as<double>()),
        lower(a.lower.as<double>()),
        upper(a.upper.as<double>()),
        constant(a.constant.as<double>()),
        n(a.x.dim(-1)),
        series(a.noise_variance.size()),
        order(a.order),
        horizon(a.horizon),
        difference(a.difference),
        fit(a.fit),
        trend(a.trend == ArTrend::constant),
        z(two_sided_quantile(a.level)) {
    const Tensor* const in[] = {&a.model};
    if (model) walk = batch_walk<1>(a.noise_variance, 0, in, 1);
  }
  std::int64_t items() const { return series; }
  KOLMO_HD std::int64_t scratch() const {
    const std::int64_t own = fit == ArFit::least_squares ? LagRegression::scratch(order, n)
                             : fit == ArFit::burg        ? 3 * n
                                                         : 0;
    return 3 * order + 3 + 2 * horizon + own;
  }
  std::int64_t width() const { return n / 4; }

  template <class Team>
  KOLMO_HD void operator()(std::int64_t item, const Team& team, double* memory) const {
    const T* const values = x + item * n;
    double *phi = memory, *covariance = phi + order, *before = covariance + order + 1,
           *sigma2 = before + order, *c = sigma2 + 1, *ahead = c + 1, *psi = ahead + horizon,
           *own = psi + horizon;
    const std::int64_t samples = n - difference;
    const auto changed = [&](std::int64_t t) { return differences(values + t, difference); };
    const double first = changed(0);  // subtracted, so that the mean of equal samples is exact
    const double mean =
        trend ? first + team_sum(team, samples, [&](std::int64_t t) { return changed(t) - first; }) /
                            double(samples)
              : 0;
    const auto sample = [&](std::int64_t t) { return changed(t) - mean; };
    if (team.first()) *c = 0;
    if (fit == ArFit::least_squares) {
      LagRegression{order, samples, trend, own}.fit(team, sample, phi, c, sigma2);
    } else if (fit == ArFit::yule_walker) {
      for (std::int64_t k = 0; k <= order; ++k) {
        const double r =
            team_sum(team, samples - k, [&](std::int64_t t) { return sample(t) * sample(t + k); });
        if (team.first()) covariance[k] = r / double(samples);
      }
      if (team.first()) *sigma2 = levinson(covariance, before, phi);
    } else if (fit == ArFit::burg) {
      burg(team, samples, sample, own, before, phi, sigma2);
    } else {
      std::int64_t place[1] = {};
      walk.at(item, place);
      team.each(order, [&](std::int64_t i) { phi[i] = double(model[place[0] + i]); });
      team.sync();
      const double squares = team_sum(team, samples - order, [&](std::int64_t t) {
        double error = sample(order + t);
        for (std::int64_t i = 0; i < order; ++i) error -= phi[i] * sample(order + t - 1 - i);
        return error * error;
      });
      if (team.first()) *sigma2 = squares / double(samples - order);
    }
    if (team.first()) look_ahead(values, sample, mean, phi, *c, ahead, psi);
    team.sync();
    team.each(order, [&](std::int64_t i) { coefficients[item * order + i] = phi[i]; });
    if (team.first()) {
      noise_variance[item] = *sigma2;
      if (constant) {
        double left = 1;
        for (std::int64_t i = 0; i < order; ++i) left -= phi[i];
        constant[item] = *c + mean * left;
      }
      double sum = 0;
      for (std::int64_t h = 0; h < horizon; ++h) {
        sum += psi[h] * psi[h];
        const std::int64_t to = item * horizon + h;
        const double width = z * std::sqrt(*sigma2 * sum);
        forecast[to] = ahead[h], variance[to] = *sigma2 * sum;
        if (lower) lower[to] = ahead[h] - width;
        if (upper) upper[to] = ahead[h] + width;
      }
    }
  }

 private:
  /// Returns the first sample after this many differences.
  KOLMO_HD static double differences(const T* v, std::int64_t times) {
    if (times == 0) return double(v[0]);
    const double change = double(v[1]) - double(v[0]);
    return times == 1 ? change : double(v[2]) - double(v[1]) - change;
  }
  /// Computes phi from a reflection coefficient and the phi of order m, the next lower one.
  KOLMO_HD static void extend(std::int64_t m, double reflection, double* before, double* phi) {
    for (std::int64_t i = 0; i < m; ++i) before[i] = phi[i];
    for (std::int64_t i = 0; i < m; ++i) phi[i] = before[i] - reflection * before[m - 1 - i];
    phi[m] = reflection;
  }
  KOLMO_HD double levinson(const double* r, double* before, double* phi) const {
    double left = r[0];
    for (std::int64_t m = 0; m < order; ++m) {
      double sum = r[m + 1];
      for (std::int64_t i = 0; i < m; ++i) sum -= phi[i] * r[m - i];
      const double reflection = left > 0 ? sum / left : 0 * left;
      extend(m, reflection, before, phi);
      left *= 1 - reflection * reflection;
    }
    return left;
  }
  /// Fits by Burg's method. `errors` holds the errors of forward prediction and two buffers for those of
  /// backward prediction.
  template <class Team, class Sample>
  KOLMO_HD void burg(const Team& team, std::int64_t samples, const Sample& sample, double* errors,
                     double* before, double* phi, double* sigma2) const {
    double *f = errors, *b = f + samples, *next = b + samples;
    team.each(samples, [&](std::int64_t t) { f[t] = b[t] = sample(t); });
    team.sync();
    double left = 0;
    for (std::int64_t m = 0; m < order; ++m) {
      const auto each = [&](const auto& term) {
        return team_sum(team, samples - m - 1, [&](std::int64_t i) { return term(f[m + 1 + i], b[m + i]); });
      };
      const double both = each([](double u, double v) { return u * u + v * v; });
      const double reflection =
          both > 0 ? 2 * each([](double u, double v) { return u * v; }) / both : 0 * both;
      team.each(samples - m - 1, [&](std::int64_t i) {
        const std::int64_t t = m + 1 + i;
        const double forward = f[t], backward = b[t - 1];
        f[t] = forward - reflection * backward, next[t] = backward - reflection * forward;
      });
      if (team.first()) extend(m, reflection, before, phi);
      left = (1 - reflection * reflection) * both / (2 * double(samples - m - 1));
      team.sync();
      double* const done = b;
      b = next, next = done;
    }
    if (team.first()) *sigma2 = left;
  }
  /// Computes the forecasts and the weights psi, summed up as often as neighbours were subtracted.
  template <class Sample>
  KOLMO_HD void look_ahead(const T* values, const Sample& sample, double mean, const double* phi, double c,
                           double* ahead, double* psi) const {
    for (std::int64_t h = 0; h < horizon; ++h) {
      double value = c, weight = h == 0 ? 1 : 0;
      for (std::int64_t i = 1; i <= order; ++i) {
        value += phi[i - 1] * (h >= i ? ahead[h - i] : sample(n - difference + h - i));
        if (h >= i) weight += phi[i - 1] * psi[h - i];
      }
      ahead[h] = value, psi[h] = weight;
    }
    for (std::int64_t h = 0; h < horizon; ++h) ahead[h] += mean;
    for (std::int64_t d = difference - 1; d >= 0; --d) {
      double value = differences(values + n - 1 - d, d), weight = 0;
      for (std::int64_t h = 0; h < horizon; ++h) ahead[h] = value += ahead[h], psi[h] = weight += psi[h];
    }
  }
};
using Autoregressions = Items<ArForecastArgs, Autoregression, &ArForecastArgs::x, double, float>;

}  // namespace kolmo
