#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kolmo/check/oracle.hpp"
#include "kolmo/ops/nn/state_encode/state_encode.hpp"

namespace kolmo::check {
namespace {
using A = StateEncodeArgs;
using Vector = std::vector<long double>;

Vector row(const Tensor& t, std::int64_t r) {
  Vector v;
  for (std::int64_t i = r * t.dim(-1); i < (r + 1) * t.dim(-1); ++i) v.push_back(get(t, i));
  return v;
}
long double mean_of(const Vector& v) {
  long double sum = 0;
  for (const long double x : v) sum += x;
  return sum / static_cast<long double>(v.size());
}
long double covariance(const Vector& v, std::size_t lag) {
  long double sum = 0;
  for (std::size_t i = lag; i < v.size(); ++i) sum += (v[i] - mean_of(v)) * (v[i - lag] - mean_of(v));
  return sum / static_cast<long double>(v.size());
}
Vector newest(const Vector& v, std::size_t count) {
  return {v.end() - std::ptrdiff_t(std::min(count, v.size())), v.end()};
}
long double smoothed(const Vector& v, long double decay) {
  long double value = v[0];
  for (std::size_t i = 1; i < v.size(); ++i) value = decay * value + (1 - decay) * v[i];
  return value;
}
/// The slope of the regression of v on 0, 1, 2, ...
long double regression(const Vector& v) {
  const auto n = static_cast<long double>(v.size());
  long double t = 0, tt = 0, y = 0, ty = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const auto at = static_cast<long double>(i);
    t += at, tt += at * at, y += v[i], ty += at * v[i];
  }
  return v.size() < 2 ? 0 : (n * ty - t * y) / (n * tt - t * t);
}
long double quantile_of(Vector v, long double q) {
  std::sort(v.begin(), v.end());
  const long double place = q * static_cast<long double>(v.size() - 1), below = std::floor(place);
  const auto i = std::size_t(below);
  return i + 1 < v.size() ? (1 - place + below) * v[i] + (place - below) * v[i + 1] : v[i];
}

void expected(const A& a) {
  for (std::int64_t r = 0; r < a.features.size() / 64; ++r) {
    const Vector x = row(a.losses, r), g = row(a.gradient_norms, r), adam = row(a.optimizer, r),
                 now = row(a.progress, r);
    const long double x_mean = mean_of(x), x_deviation = std::sqrt(covariance(x, 0)), g_mean = mean_of(g),
                      g_deviation = std::sqrt(covariance(g, 0)), tiny = 1e-8L;
    Vector f{x.back(), x_mean, x_deviation, *std::min_element(x.begin(), x.end()),
             *std::max_element(x.begin(), x.end())};
    const auto add = [&f](std::initializer_list<long double> more) { f.insert(f.end(), more); };
    if (x.size() < 32) {
      add({0, 1});
    } else {
      Vector early = newest(x, 32);
      early.resize(16);
      const long double late = mean_of(newest(x, 16)), before = mean_of(early);
      add({late - before, late / std::max(before, tiny)});
    }
    add({now[0] / 10000, g.back(), g_mean, g_deviation, *std::min_element(g.begin(), g.end()),
         *std::max_element(g.begin(), g.end()), std::max(std::log10(g.back()), -10.0L),
         std::min(g.back() / std::max(g_mean, tiny), 10.0L), g_deviation / std::max(g_mean, tiny)});
    add({adam[0], adam[1], adam[2], adam[3], std::max(std::log10(adam[4]), -10.0L), adam[5], adam[6]});
    add({std::clamp((x.back() - x_mean) / std::max(x_deviation, tiny), -10.0L, 10.0L), now[1], now[2] / 100});
    const long double fast = smoothed(x, 0.75L), slow = smoothed(x, 0.984375L);
    add({fast, smoothed(x, 0.9375L), slow, fast - slow});
    for (const std::size_t count : {16, 64, 256}) add({regression(newest(x, count))});
    add({x_deviation > 0 ? covariance(x, 1) / covariance(x, 0) : 0});
    for (const long double q : {0.1L, 0.25L, 0.5L, 0.75L, 0.9L}) add({quantile_of(x, q)});
    add({smoothed(g, 0.75L), smoothed(g, 0.9375L), smoothed(g, 0.984375L)});
    for (const Tensor* const t :
         {static_cast<const Tensor*>(&a.weights), static_cast<const Tensor*>(&a.layers)})
      for (const long double v : row(*t, r)) f.push_back(v);
    add({std::clamp(1 - now[0] / std::max(now[3], tiny), 0.0L, 1.0L)});
    for (int phase = 0; phase < 4; ++phase) f.push_back(now[1] == phase);
    for (const long double v : row(a.jump, r)) f.push_back(v);
    for (std::int64_t i = 0; i < 64; ++i) {
      long double v = f.at(std::size_t(i));
      if (a.center.given())
        v = std::clamp((v - get(a.center, i)) / std::max(get(a.scale, i), tiny), -10.0L, 10.0L);
      put(a.features, r * 64 + i, v);
    }
  }
}

/// A state of a training, and its features.
struct State {
  std::vector<double> losses, norms;
  std::array<double, 7> optimizer{0.1, 0.2, 0.3, 0.4, 1e-3, 0.5, 0.6};
  std::array<double, 4> progress{1000, 1, 50, 4000};
  std::array<double, 6> weights{0.9, 0.01, 10, 0.2, 0.3, 40};
  std::array<double, 8> layers{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<double, 3> jump{20, 0.05, 0.25};
  std::array<double, 64> features{};

  std::array<double, 64> encode(Stream& s) {
    call(state_encode,
         {.losses = tensor(losses.data(), {std::int64_t(losses.size())}),
          .gradient_norms = tensor(norms.data(), {std::int64_t(norms.size())}),
          .optimizer = tensor(optimizer.data(), {7}),
          .progress = tensor(progress.data(), {4}),
          .weights = tensor(weights.data(), {6}),
          .layers = tensor(layers.data(), {8}),
          .jump = tensor(jump.data(), {3}),
          .features = tensor(features.data(), {64})},
         s);
    return features;
  }
};

constexpr Fact facts[] = {
    {"a falling line by hand",
     [](Stream& s) {
       State a;
       for (int i = 0; i < 64; ++i) a.losses.push_back(10 - 0.125 * i);
       a.norms = {4, 1};
       const auto f = a.encode(s);
       const double want[][2] = {{0, 2.125},   {1, 6.0625},  {3, 2.125}, {4, 10},      {5, -2},
                                 {7, 0.1},     {8, 1},       {9, 2.5},   {10, 1.5},    {11, 1},
                                 {12, 4},      {13, 0},      {14, 0.4},  {15, 0.6},    {19, 0.4},
                                 {20, -3},     {24, 1},      {25, 0.5},  {30, -0.125}, {31, -0.125},
                                 {32, -0.125}, {36, 6.0625}, {39, 3.25}, {42, 0.9},    {48, 1},
                                 {55, 8},      {56, 0.75},   {57, 0},    {58, 1},      {63, 0.25}};
       for (const auto& [i, value] : want)
         expect_near(f[std::size_t(i)], value, 1e-14, std::string(state_feature_names[std::size_t(i)]));
       expect_near(f[6], 3.0625 / 5.0625, 1e-14, "ratio of the trend");
       expect_near(f[2], 0.125 * std::sqrt(4095 / 12.0), 1e-13, "deviation");
       expect(f[26] < f[27] && f[27] < f[28] && f[29] < 0,
              "averages of a falling loss are not ordered by pace");
     }},
    {"no feature is a constant: each differs between some of eight states of a training",
     [](Stream& s) {
       std::array<double, 64> least{}, most{};
       for (int k = 0; k < 8; ++k) {
         State a;
         for (int i = 0; i < 300; ++i)
           a.losses.push_back((2 + std::sin(7.0 * i + k)) / (1 + 0.1 * k + 0.01 * i));
         for (int i = 0; i < 40; ++i) a.norms.push_back(1.5 + std::cos(3.0 * i + k));
         const auto change = [k](auto& numbers) {
           for (double& x : numbers) x *= 1 + 0.1 * k;
         };
         change(a.optimizer), change(a.weights), change(a.layers), change(a.jump);
         a.progress = {100.0 * k, double(k % 4), 3.0 * k, 4000};
         const auto f = a.encode(s);
         for (std::size_t i = 0; i < 64; ++i) {
           least[i] = k ? std::min(least[i], f[i]) : f[i];
           most[i] = k ? std::max(most[i], f[i]) : f[i];
         }
       }
       for (std::size_t i = 0; i < 64; ++i)
         expect(most[i] - least[i] > 1e-6, std::string(state_feature_names[i]) + " does not vary");
     }},
    {"equal losses: no deviation, no trend, no correlation; a norm of 0 and a rate of 0 have bounded "
     "logarithms",
     [](Stream& s) {
       State a;
       a.losses.assign(40, 0.7), a.norms = {0}, a.optimizer[4] = 0;
       const auto f = a.encode(s);
       expect(f[2] == 0 && f[29] == 0 && f[30] == 0 && f[33] == 0, "deviation or slope of a constant");
       expect(f[13] == -10 && f[20] == -10 && f[14] == 0, "logarithms of 0");
     }},
    {"center without scale, and no loss at all, are refused",
     [](Stream& s) {
       State a;
       a.norms = {1};
       expect_invalid([&] { a.encode(s); }, "state_encode: losses holds 0 numbers, it must be 1 to 4096");
     }},
};

}  // namespace

extern constinit const Oracle<A> state_encode_oracle{state_encode, expected, facts};

}  // namespace kolmo::check
