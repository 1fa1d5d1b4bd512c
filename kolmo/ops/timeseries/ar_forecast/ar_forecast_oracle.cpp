#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/timeseries/ar_forecast/ar_forecast.hpp"

namespace kolmo::check {
namespace {
using A = ArForecastArgs;
using Values = std::vector<long double>;

struct Model {
  Values phi;
  long double noise = 0, constant = 0;
};

/// Solves the Yule-Walker equations R phi = r by elimination.
Model yule_walker(const Values& x, std::size_t p) {
  const auto r = [&](std::size_t k) {
    long double sum = 0;
    for (std::size_t t = k; t < x.size(); ++t) sum += x[t] * x[t - k];
    return sum / static_cast<long double>(x.size());
  };
  std::vector<Values> m(p, Values(p + 1));
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = 0; j < p; ++j) m[i][j] = r(i < j ? j - i : i - j);
    m[i][p] = r(i + 1);
  }
  for (std::size_t k = 0; k < p; ++k)
    for (std::size_t i = 0; i < p; ++i) {
      if (i == k) continue;
      const long double factor = m[i][k] / m[k][k];
      for (std::size_t j = k; j <= p; ++j) m[i][j] -= factor * m[k][j];
    }
  Model model{{}, r(0)};
  for (std::size_t i = 0; i < p; ++i) {
    model.phi.push_back(m[i][p] / m[i][i]);
    model.noise -= model.phi[i] * r(i + 1);
  }
  return model;
}

/// Burg's method from its definition: the errors of each stage are computed anew from the polynomial.
Model burg(const Values& x, std::size_t p) {
  Model model;
  for (std::size_t m = 0; m < p; ++m) {
    long double both = 0, product = 0;
    for (std::size_t t = m + 1; t < x.size(); ++t) {
      long double forward = x[t], backward = x[t - m - 1];
      for (std::size_t i = 0; i < m; ++i)
        forward -= model.phi[i] * x[t - 1 - i], backward -= model.phi[i] * x[t - m + i];
      both += forward * forward + backward * backward, product += forward * backward;
    }
    const long double k = 2 * product / both;
    Values next = model.phi;
    for (std::size_t i = 0; i < m; ++i) next[i] -= k * model.phi[m - 1 - i];
    next.push_back(k);
    model.phi = next, model.noise = (1 - k * k) * both / static_cast<long double>(2 * (x.size() - m - 1));
  }
  return model;
}

long double dot(const Values& u, const Values& v) {
  return std::inner_product(u.begin(), u.end(), v.begin(), 0.0L);
}

void subtract(Values& u, long double factor, const Values& v) {
  for (std::size_t i = 0; i < u.size(); ++i) u[i] -= factor * v[i];
}

/// Least squares by Gram and Schmidt, each lag made orthogonal to the nearer ones, twice.
Model least_squares(const Values& x, std::size_t p, bool constant) {
  std::vector<Values> lags, orthogonal, inside;  // inside[i][k]: the share of orthogonal[k] in lag i
  Values means;
  for (std::size_t lag = 0; lag <= p; ++lag) {
    Values column(x.begin() + std::ptrdiff_t(p - lag), x.end() - std::ptrdiff_t(lag));
    const auto rows = static_cast<long double>(column.size());
    means.push_back(constant ? std::accumulate(column.begin(), column.end(), 0.0L) / rows : 0);
    for (long double& v : column) v -= means.back();
    lags.push_back(column);
  }
  const auto project = [&](Values& column) {
    Values shares(orthogonal.size(), 0);
    for (int again = 0; again < 2; ++again)
      for (std::size_t k = 0; k < orthogonal.size(); ++k) {
        const long double squares = dot(orthogonal[k], orthogonal[k]);
        const long double share = squares > 0 ? dot(column, orthogonal[k]) / squares : 0;
        subtract(column, share, orthogonal[k]), shares[k] += share;
      }
    return shares;
  };
  for (std::size_t i = 1; i <= p; ++i) {
    Values column = lags[i];
    inside.push_back(project(column));
    const bool dependent = dot(column, column) <= 0x1p-40L * dot(lags[i], lags[i]);
    orthogonal.push_back(dependent ? Values(column.size(), 0) : column);
  }
  Values errors = lags[0];
  const Values shares = project(errors);
  Model model{Values(p, 0), dot(errors, errors) / static_cast<long double>(errors.size()), means[0]};
  for (std::size_t i = p; i-- > 0;) {
    model.phi[i] = dot(orthogonal[i], orthogonal[i]) > 0 ? shares[i] : 0;
    for (std::size_t k = i + 1; k < p; ++k)
      if (dot(orthogonal[i], orthogonal[i]) > 0) model.phi[i] -= model.phi[k] * inside[k][i];
  }
  for (std::size_t i = 0; i < p; ++i) model.constant -= model.phi[i] * means[i + 1];
  return model;
}

/// The samples after `times` differences.
Values differences(Values x, std::int64_t times) {
  for (; times > 0; --times) {
    for (std::size_t t = 0; t + 1 < x.size(); ++t) x[t] = x[t + 1] - x[t];
    x.pop_back();
  }
  return x;
}

/// Sums the values up, from `start` on.
void sum_up(Values& values, long double start) {
  for (long double& v : values) start += v, v = start;
}

void expected(const A& a) {
  const long double z =
      boost::math::quantile(boost::math::normal_distribution<long double>(), (1 + a.level) / 2);
  const std::int64_t n = a.x.dim(-1);
  const auto p = std::size_t(a.order);
  for (std::int64_t b = 0; b < a.noise_variance.size(); ++b) {
    Values series;
    for (std::int64_t t = 0; t < n; ++t) series.push_back(get(a.x, b * n + t));
    Values x = differences(series, a.difference);
    const auto samples = static_cast<long double>(x.size());
    const bool constant = a.trend == ArTrend::constant;
    const long double mean = constant ? std::accumulate(x.begin(), x.end(), 0.0L) / samples : 0;
    for (long double& v : x) v -= mean;
    Model model;
    if (a.fit == ArFit::given) {
      for (std::size_t i = 0; i < p; ++i) model.phi.push_back(get(a.model, b * a.order + std::int64_t(i)));
      for (std::size_t t = p; t < x.size(); ++t) {
        long double e = x[t];
        for (std::size_t i = 0; i < p; ++i) e -= model.phi[i] * x[t - 1 - i];
        model.noise += e * e / (samples - static_cast<long double>(p));
      }
    } else if (a.fit == ArFit::least_squares) {
      model = least_squares(x, p, constant);
    } else {
      model = a.fit == ArFit::burg ? burg(x, p) : yule_walker(x, p);
    }
    for (std::size_t i = 0; i < p; ++i) put(a.coefficients, b * a.order + std::int64_t(i), model.phi[i]);
    put(a.noise_variance, b, model.noise);
    const long double sum = std::accumulate(model.phi.begin(), model.phi.end(), 0.0L);
    if (a.constant.given()) put(a.constant, b, model.constant + mean * (1 - sum));
    Values impulse(p, 0), ahead, psi;  // the response to a unit innovation is psi
    for (std::int64_t h = 0; h < a.horizon; ++h) {
      long double next = model.constant, weight = h == 0;
      for (std::size_t i = 0; i < p; ++i)
        next += model.phi[i] * x[x.size() - 1 - i], weight += model.phi[i] * impulse[impulse.size() - 1 - i];
      x.push_back(next), impulse.push_back(weight), ahead.push_back(mean + next), psi.push_back(weight);
    }
    for (std::int64_t d = a.difference - 1; d >= 0; --d)
      sum_up(ahead, differences(series, d).back()), sum_up(psi, 0);
    long double squares = 0;
    for (std::int64_t h = 0; h < a.horizon; ++h) {
      squares += psi[std::size_t(h)] * psi[std::size_t(h)];
      const long double value = ahead[std::size_t(h)], variance = model.noise * squares;
      put(a.forecast, b * a.horizon + h, value), put(a.variance, b * a.horizon + h, variance);
      if (a.lower.given()) put(a.lower, b * a.horizon + h, value - z * std::sqrt(variance));
      if (a.upper.given()) put(a.upper, b * a.horizon + h, value + z * std::sqrt(variance));
    }
  }
}

struct Result {
  std::vector<double> forecast, variance, phi;
  double noise = -1;
};
Result fitted(std::vector<double> x, std::vector<double> model, A a, Stream& s) {
  Result r{std::vector<double>(std::size_t(a.horizon)), std::vector<double>(std::size_t(a.horizon)),
           std::vector<double>(std::size_t(a.order))};
  a.x = tensor(x.data(), {std::int64_t(x.size())});
  if (!model.empty()) a.model = tensor(model.data(), {std::int64_t(model.size())});
  a.forecast = tensor(r.forecast.data(), {a.horizon}), a.variance = tensor(r.variance.data(), {a.horizon});
  a.coefficients = tensor(r.phi.data(), {a.order}), a.noise_variance = tensor(&r.noise, {});
  call(ar_forecast, a, s);
  return r;
}

constexpr Fact facts[] = {
    {"AR(1) with phi = 1/2: forecasts halve, variance is sigma^2 (1 + 1/4 + 1/16)",
     [](Stream& s) {
       const Result r =
           fitted({8, 4, 3, 0.5}, {0.5}, {.horizon = 3, .fit = ArFit::given, .trend = ArTrend::none}, s);
       expect(r.forecast[0] == 0.25 && r.forecast[2] == 0.0625, "forecast");
       expect_near(r.noise, (0 + 1 + 1) / 3., 1e-15, "noise");
       expect_near(r.variance[2], 2 / 3. * 21 / 16, 1e-15, "variance");
     }},
    {"a sine is forecast by Burg's AR(2)",
     [](Stream& s) {
       std::vector<double> x(2000);
       for (std::size_t t = 0; t < x.size(); ++t) x[t] = std::sin(0.7 * double(t));
       const Result r =
           fitted(x, {}, {.order = 2, .horizon = 5, .fit = ArFit::burg, .trend = ArTrend::none}, s);
       expect_near(r.phi[1], -1, 1e-4, "phi_2"), expect_near(r.phi[0], 2 * std::cos(0.7), 1e-3, "phi_1");
       expect_near(r.forecast[4], std::sin(0.7 * 2004), 1e-2, "forecast");
     }},
    {"Yule-Walker of order 1 is r_1 / r_0; a constant series stays",
     [](Stream& s) {
       const Result r = fitted({1, -1, 2, -2}, {}, {.fit = ArFit::yule_walker}, s);
       expect_near(r.phi[0], -0.7, 1e-15, "phi"), expect_near(r.forecast[0], 1.4, 1e-15, "forecast");
       expect_near(r.noise, 2.5 * 0.51, 1e-15, "noise");
       for (const ArFit fit : {ArFit::least_squares, ArFit::yule_walker, ArFit::burg}) {
         for (const double v : {3.0, 0.1})
           for (const std::size_t n : {std::size_t(5), std::size_t(1000)}) {
             const Result c = fitted(std::vector(n, v), {}, {.order = 2, .horizon = 2, .fit = fit}, s);
             expect(c.forecast[1] == v && c.noise == 0 && c.phi[0] == 0 && c.phi[1] == 0, "constant");
           }
       }
     }},
    {"least squares continue a straight line and a parabola, differences them too",
     [](Stream& s) {
       std::vector<double> line(203), parabola(203);
       for (std::size_t t = 0; t < line.size(); ++t)
         line[t] = 2710.3 + 0.7 * double(t), parabola[t] = line[t] + 0.01 * double(t * t);
       for (const std::int64_t order : {1, 4, 12})
         for (const std::int64_t difference : {0, 1, 2}) {
           const A options{.order = order, .horizon = 8, .difference = difference};
           const Result r = fitted(line, {}, options, s), q = fitted(parabola, {}, options, s);
           expect_near(r.forecast[7], 2710.3 + 0.7 * 210, 1e-7, "line");
           if (order > 1) expect_near(q.forecast[7], 2710.3 + 0.7 * 210 + 0.01 * 210 * 210, 1e-5, "parabola");
           expect(r.noise < 1e-18, "noise");
         }
       A options{.order = 1, .horizon = 3, .fit = ArFit::yule_walker, .difference = 1};
       expect_near(fitted(line, {}, options, s).forecast[2], 2710.3 + 0.7 * 205, 1e-7, "drift");
     }},
    {"a random walk after one difference: the variance grows by sigma^2 a step",
     [](Stream& s) {
       const Result r = fitted({0, 1, 3, 4, 6}, {0}, {.horizon = 3, .fit = ArFit::given, .difference = 1}, s);
       expect_near(r.forecast[2], 6 + 3 * 1.5, 1e-15, "drift"), expect_near(r.noise, 0.25, 1e-15, "noise");
       expect_near(r.variance[0], 0.25, 1e-15, "one ahead"), expect_near(r.variance[2], 0.75, 1e-15, "three");
     }},
    {"what does not fit is refused",
     [](Stream& s) {
       expect_invalid(
           [&] {
             fitted({1, 2}, {}, {.order = 2}, s);
           },
           "ar_forecast: x has 2 samples; order 2, difference 0 and fit least_squares need 5 or more");
       expect_invalid([&] { fitted({1, 2}, {0.5}, {}, s); }, "ar_forecast: model is given if and only if");
     }},
};

}  // namespace

extern constinit const Oracle<A> ar_forecast_oracle{ar_forecast, expected, facts};

}  // namespace kolmo::check
