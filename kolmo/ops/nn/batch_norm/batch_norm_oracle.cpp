#include <cmath>
#include <numbers>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/nn/batch_norm/batch_norm.hpp"

namespace kolmo::check {
namespace {
using A = BatchNormArgs;

long double activated(Activation f, long double v) {
  if (f == Activation::relu) return v > 0.0L ? v : 0.0L;
  if (f == Activation::gelu) return v * std::erfc(-v / std::sqrt(2.0L)) / 2;
  if (f == Activation::gelu_tanh)
    return v * (1 + std::tanh(std::sqrt(2 / std::numbers::pi_v<long double>) * (v + 0.044715L * v * v * v))) /
           2;
  return v;
}

void expected(const A& a) {
  const std::int64_t n = a.x.extent[0], c = a.x.extent[1], s = a.x.size() / (n * c);
  const auto count = static_cast<long double>(n * s), momentum = static_cast<long double>(a.momentum);
  for (std::int64_t ch = 0; ch < c; ++ch) {
    const auto each = [&](const auto& f) {
      for (std::int64_t b = 0; b < n; ++b)
        for (std::int64_t i = 0; i < s; ++i) f((b * c + ch) * s + i);
    };
    long double mean = get(a.running_mean, ch), variance = get(a.running_variance, ch);
    if (a.training) {
      mean = 0, variance = 0;
      each([&](std::int64_t i) { mean += get(a.x, i) / count; });
      each([&](std::int64_t i) { variance += std::pow(get(a.x, i) - mean, 2) / count; });
      put(a.running_mean, ch, (1 - momentum) * get(a.running_mean, ch) + momentum * mean);
      put(a.running_variance, ch,
          (1 - momentum) * get(a.running_variance, ch) + momentum * variance * count / (count - 1));
    }
    const long double rstd = 1 / std::sqrt(variance + static_cast<long double>(a.eps));
    const long double scale = a.scale.given() ? get(a.scale, ch) : 1,
                      shift = a.shift.given() ? get(a.shift, ch) : 0;
    each([&](std::int64_t i) {
      put(a.y, i, activated(a.activation, (get(a.x, i) - mean) * rstd * scale + shift));
    });
    if (a.mean.given()) put(a.mean, ch, mean);
    if (a.rstd.given()) put(a.rstd, ch, rstd);
  }
}

constexpr Fact facts[] = {
    {"channels (1, 3) and (10, 10): means 2 and 10, variances 1 and 0; running variances take m / (m - 1)",
     [](Stream& s) {
       double x[] = {1, 10, 3, 10}, y[4] = {}, scale[] = {10, 10}, shift[] = {0, 5};
       double running_mean[] = {0, 0}, running_variance[] = {4, 4}, mean[2] = {};
       call(batch_norm,
            {.x = tensor(x, {2, 2}),
             .scale = tensor(scale, {2}),
             .shift = tensor(shift, {2}),
             .running_mean = tensor(running_mean, {2}),
             .running_variance = tensor(running_variance, {2}),
             .y = tensor(y, {2, 2}),
             .mean = tensor(mean, {2}),
             .momentum = 0.25,
             .training = true},
            s);
       expect(mean[0] == 2 && mean[1] == 10, "means");
       expect_near(y[0], -10 / std::sqrt(1 + 1e-5), 1e-14, "y(0, 0)");
       expect_near(y[2], 10 / std::sqrt(1 + 1e-5), 1e-14, "y(1, 0)");
       expect(y[1] == 5 && y[3] == 5, "a channel without variance is not its shift");
       expect(running_mean[0] == 0.5 && running_mean[1] == 2.5, "running means");
       expect(running_variance[0] == 0.75 * 4 + 0.25 * 2 && running_variance[1] == 3, "running variances");
     }},
    {"inference uses the running statistics and leaves them as they are",
     [](Stream& s) {
       float x[] = {5, 7}, y[2] = {};
       double mean = 3, variance = 4;
       call(batch_norm,
            {.x = tensor(x, {2, 1}),
             .running_mean = tensor(&mean, {1}),
             .running_variance = tensor(&variance, {1}),
             .y = tensor(y, {2, 1}),
             .eps = 0},
            s);
       expect(y[0] == 1 && y[1] == 2 && mean == 3 && variance == 4, "wrong");
     }},
    {"in training every channel of the result has mean 0 and variance 1",
     [](Stream& s) {
       constexpr std::int64_t n = 40, c = 3, t = 5;
       std::vector<double> x(n * c * t), y(x.size());
       for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1e6 + std::sin(double(i * i));
       std::vector<double> mean(c), variance(c);
       call(batch_norm,
            {.x = tensor(x.data(), {n, c, t}),
             .running_mean = tensor(mean.data(), {c}),
             .running_variance = tensor(variance.data(), {c}),
             .y = tensor(y.data(), {n, c, t}),
             .eps = 0,
             .training = true},
            s);
       for (std::int64_t ch = 0; ch < c; ++ch) {
         double sum = 0, squares = 0;
         for (std::int64_t i = 0; i < n * t; ++i) {
           const double v = y[std::size_t((i / t * c + ch) * t + i % t)];
           sum += v, squares += v * v;
         }
         expect_near(sum / double(n * t), 0, 1e-9, "mean");
         expect_near(squares / double(n * t), 1, 1e-9, "variance");
       }
     }},
    {"one value of a channel has no variance to learn from",
     [](Stream& s) {
       double x = 1, y = 0, mean = 0, variance = 1;
       const A a{.x = tensor(&x, {1, 1}),
                 .running_mean = tensor(&mean, {1}),
                 .running_variance = tensor(&variance, {1}),
                 .y = tensor(&y, {1, 1}),
                 .training = true};
       expect_invalid([&] { call(batch_norm, a, s); }, "batch_norm: training needs more than one value");
       A none = a;
       none.x = tensor(&x, {0, 1}), none.y = tensor(&y, {0, 1});
       expect_invalid([&] { call(batch_norm, none, s); }, "batch_norm: training needs more than one value");
       none.training = false;
       call(batch_norm, none, s);
       expect(mean == 0 && variance == 1, "an empty batch changed the running statistics");
     }},
};

}  // namespace

extern constinit const Oracle<A> batch_norm_oracle{batch_norm, expected, facts};

}  // namespace kolmo::check
