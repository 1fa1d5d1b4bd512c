#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/timeseries/kalman_filter_step/kalman_filter_step.hpp"

namespace kolmo::check {
namespace {
using A = KalmanFilterStepArgs;

struct Matrix {
  std::size_t rows, columns;
  std::vector<long double> at;
  Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), at(r * c, 0) {}
  long double& operator()(std::size_t i, std::size_t j) { return at[i * columns + j]; }
  long double operator()(std::size_t i, std::size_t j) const { return at[i * columns + j]; }
};
Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.columns);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < b.columns; ++j)
      for (std::size_t k = 0; k < a.columns; ++k) c(i, j) += a(i, k) * b(k, j);
  return c;
}
Matrix plus(Matrix a, const Matrix& b, long double factor = 1) {
  for (std::size_t i = 0; i < a.at.size(); ++i) a.at[i] += factor * b.at[i];
  return a;
}
Matrix turned(const Matrix& a) {
  Matrix t(a.columns, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < a.columns; ++j) t(j, i) = a(i, j);
  return t;
}
/// Computes the inverse by Gauss-Jordan elimination, and the determinant.
Matrix inverse(Matrix a, long double& determinant) {
  Matrix b(a.rows, a.rows);
  determinant = 1;
  for (std::size_t i = 0; i < a.rows; ++i) b(i, i) = 1;
  for (std::size_t k = 0; k < a.rows; ++k) {
    const long double pivot = a(k, k);
    determinant *= pivot;
    for (std::size_t j = 0; j < a.rows; ++j) a(k, j) /= pivot, b(k, j) /= pivot;
    for (std::size_t i = 0; i < a.rows; ++i) {
      const long double factor = i == k ? 0 : a(i, k);
      for (std::size_t j = 0; j < a.rows; ++j) a(i, j) -= factor * a(k, j), b(i, j) -= factor * b(k, j);
    }
  }
  return b;
}
Matrix taken(const Tensor& t, std::int64_t item, std::int64_t rows, std::int64_t columns) {
  Matrix m{std::size_t(rows), std::size_t(columns)};
  for (std::size_t i = 0; i < m.at.size(); ++i) m.at[i] = get(t, item * rows * columns + std::int64_t(i));
  return m;
}
void give(const Tensor& t, std::int64_t item, const Matrix& m) {
  if (!t.given()) return;
  for (std::size_t i = 0; i < m.at.size(); ++i)
    put(t, item * std::int64_t(m.at.size()) + std::int64_t(i), m.at[i]);
}

/// Computes the textbook's form P = (I - K H) P-, which equals Joseph's form for the optimal gain.
void expected(const A& a) {
  const std::int64_t n = a.x.dim(-1), m = a.z.dim(-1);
  for (std::int64_t b = 0; b < a.x.size() / n; ++b) {
    const Matrix f = taken(a.transition, b, n, n), h = taken(a.observation, b, m, n);
    Matrix x = f * taken(a.x, b, n, 1);
    if (a.control.given()) x = plus(x, taken(a.control, b, n, 1));
    const Matrix p = plus(f * taken(a.covariance, b, n, n) * turned(f), taken(a.process_noise, b, n, n));
    const Matrix y = plus(taken(a.z, b, m, 1), h * x, -1);
    long double determinant = 0;
    const Matrix s = inverse(plus(h * p * turned(h), taken(a.measurement_noise, b, m, m)), determinant),
                 k = p * turned(h) * s;
    give(a.x_next, b, plus(x, k * y)), give(a.covariance_next, b, plus(p, k * h * p, -1));
    give(a.innovation, b, y), give(a.gain, b, k);
    if (a.log_likelihood.given())
      put(a.log_likelihood, b,
          -((turned(y) * s * y)(0, 0) + std::log(determinant) +
            static_cast<long double>(m) * std::log(2 * std::numbers::pi_v<long double>)) /
              2);
  }
}

/// Follows position, velocity and acceleration. Their combination h is measured, ten thousand times more
/// precisely than it is known.
void follow_track(std::array<float, 3> h, Stream& s) {
  float x[3] = {}, z = 0, p[9] = {1e4f, 0, 0, 0, 1e4f, 0, 0, 0, 1e4f}, r = 1e-4f;
  float f[9] = {1, 0.1f, 0.005f, 0, 1, 0.1f, 0, 0, 1}, q[9] = {};
  q[8] = 1e-6f;
  const int steps = s.device().kind == DeviceKind::simt ? 300 : 10000;
  for (int t = 0; t < steps; ++t) {
    z = std::sin(0.01f * float(t));
    call(kalman_filter_step,
         {.x = tensor(x, {3}),
          .covariance = tensor(p, {3, 3}),
          .z = tensor(&z, {1}),
          .transition = tensor(f, {3, 3}),
          .process_noise = tensor(q, {3, 3}),
          .observation = tensor(h.data(), {1, 3}),
          .measurement_noise = tensor(&r, {1, 1}),
          .x_next = tensor(x, {3}),
          .covariance_next = tensor(p, {3, 3})},
         s);
    const double a = p[0], b = p[1], c = p[2], d = p[4], e = p[5], g = p[8];
    expect(p[3] == p[1] && p[6] == p[2] && p[7] == p[5], "not symmetric at step " + std::to_string(t));
    expect(a > 0 && a * d > b * b && a * (d * g - e * e) - b * (b * g - c * e) + c * (b * e - c * d) > 0,
           "not positive at step " + std::to_string(t));
  }
  const double measured = double(h[0]) * x[0] + double(h[1]) * x[1] + double(h[2]) * x[2];
  expect_near(measured, double(z), 0.02, "the track");
}

constexpr Fact facts[] = {
    {"one dimension by hand: P- = 4, S = 8, K = 1/2",
     [](Stream& s) {
       double x = 1, p = 3, z = 3, one = 1, r = 4, k = 0, y = 0, l = 0;
       call(kalman_filter_step,
            {.x = tensor(&x, {1}),
             .covariance = tensor(&p, {1, 1}),
             .z = tensor(&z, {1}),
             .transition = tensor(&one, {1, 1}),
             .process_noise = tensor(&one, {1, 1}),
             .observation = tensor(&one, {1, 1}),
             .measurement_noise = tensor(&r, {1, 1}),
             .x_next = tensor(&x, {1}),
             .covariance_next = tensor(&p, {1, 1}),
             .innovation = tensor(&y, {1}),
             .gain = tensor(&k, {1, 1}),
             .log_likelihood = tensor(&l, {})},
            s);
       expect_near(k, 0.5, 1e-15, "K"), expect_near(x, 2, 1e-15, "x"), expect_near(p, 2, 1e-15, "P");
       expect(y == 2, "y"), expect_near(l, -0.5 * (0.5 + std::log(8 * 2 * std::numbers::pi)), 1e-15, "l");
     }},
    {"f32, a badly observed track: P stays symmetric and positive for 10,000 steps (emulated: 300)",
     [](Stream& s) {
       for (const auto& h : {std::array{1.0f, 0.0f, 0.0f}, {1, 1, 1}, {1, 0.5f, 0}, {2, 0, 1}})
         follow_track(h, s);
     }},
    {"one model serves a batch, and a measurement reduces the variance",
     [](Stream& s) {
       double x[2] = {0, 1}, p[2] = {2, 5}, z[2] = {1, 1}, f = 1, q = 0, h = 1, r = 1, x1[2], p1[2];
       call(kalman_filter_step,
            {.x = tensor(x, {2, 1}),
             .covariance = tensor(p, {2, 1, 1}),
             .z = tensor(z, {2, 1}),
             .transition = tensor(&f, {1, 1}),
             .process_noise = tensor(&q, {1, 1}),
             .observation = tensor(&h, {1, 1}),
             .measurement_noise = tensor(&r, {1, 1}),
             .x_next = tensor(x1, {2, 1}),
             .covariance_next = tensor(p1, {2, 1, 1})},
            s);
       expect_near(p1[0], 2. / 3, 1e-15, "first"), expect_near(p1[1], 5. / 6, 1e-15, "second");
       expect_near(x1[0], 2. / 3, 1e-15, "state"), expect(x1[1] == 1, "no surprise, no change");
       r = -10;
       expect_invalid(
           [&] {
             call(kalman_filter_step,
                  {.x = tensor(x, {2, 1}),
                   .covariance = tensor(p, {2, 1, 1}),
                   .z = tensor(z, {2, 1}),
                   .transition = tensor(&f, {1, 1}),
                   .process_noise = tensor(&q, {1, 1}),
                   .observation = tensor(&h, {1, 1}),
                   .measurement_noise = tensor(&r, {1, 1}),
                   .x_next = tensor(x1, {2, 1}),
                   .covariance_next = tensor(p1, {2, 1, 1})},
                  s);
           },
           "covariance of the innovation is not positive definite");
     }},
};

}  // namespace

extern constinit const Oracle<A> kalman_filter_step_oracle{kalman_filter_step, expected, facts};

}  // namespace kolmo::check
