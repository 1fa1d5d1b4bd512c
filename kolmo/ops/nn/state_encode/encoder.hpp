#pragma once
#include <cmath>

#include "kolmo/ops/nn/state_encode/state_encode.hpp"
#include "kolmo/skeleton/each_team.hpp"

namespace kolmo {

template <class T>
struct StateEncoder {
  const T *losses, *norms, *optimizer, *progress, *weights, *layers, *jump, *center, *scale;
  T* features;
  std::int64_t states, w, v;

  explicit StateEncoder(const StateEncodeArgs& a)
      : losses(a.losses.as<T>()),
        norms(a.gradient_norms.as<T>()),
        optimizer(a.optimizer.as<T>()),
        progress(a.progress.as<T>()),
        weights(a.weights.as<T>()),
        layers(a.layers.as<T>()),
        jump(a.jump.as<T>()),
        center(a.center.as<T>()),
        scale(a.scale.as<T>()),
        features(a.features.as<T>()),
        states(a.features.size() / 64),
        w(a.losses.dim(-1)),
        v(a.gradient_norms.dim(-1)) {}
  std::int64_t items() const { return states; }
  KOLMO_HD std::int64_t scratch() const { return 64 + power_of_two(w) + power_of_two(v); }
  std::int64_t width() const { return w; }

  template <class Team>
  KOLMO_HD void operator()(std::int64_t item, const Team& team, double* f) const {
    const T *const x = losses + item * w, *const g = norms + item * v;
    double *const sorted_x = f + 64, *const sorted_g = sorted_x + power_of_two(w);
    sort(team, x, w, sorted_x), sort(team, g, v, sorted_g);
    const Moments of_x(team, x, w), of_g(team, g, v);
    const double next_to = team_sum(team, w - 1, [&](std::int64_t i) {
      return (double(x[i]) - of_x.mean) * (double(x[i + 1]) - of_x.mean);
    });
    team.each(3, [&](std::int64_t i) {
      f[26 + i] = average(x, w, i), f[39 + i] = average(g, v, i);
      f[30 + i] = slope(x, w, i == 0 ? 16 : i == 1 ? 64 : 256);
    });
    team.each(5, [&](std::int64_t i) {
      f[34 + i] = quantile(sorted_x, w, i == 0 ? 0.1 : i == 4 ? 0.9 : 0.25 * double(i));
    });
    team.each(8, [&](std::int64_t i) {
      const double p = double(progress[item * 4 + 1]);
      f[48 + i] = double(layers[item * 8 + i]);
      if (i < 7) f[16 + i] = double(optimizer[item * 7 + i]);
      if (i < 6) f[42 + i] = double(weights[item * 6 + i]);
      if (i < 4) f[57 + i] = p == double(i) ? 1 : 0;
      if (i < 3) f[61 + i] = double(jump[item * 3 + i]);
    });
    team.sync();
    if (team.first()) {
      const T* const at = progress + item * 4;
      const double loss = double(x[w - 1]), norm = double(g[v - 1]);
      f[0] = loss, f[1] = of_x.mean, f[2] = of_x.deviation, f[3] = sorted_x[0], f[4] = sorted_x[w - 1];
      const double late = w < 32 ? 1 : mean(x + w - 16), early = w < 32 ? 1 : mean(x + w - 32);
      f[5] = late - early, f[6] = late / at_least(early, 1e-8), f[7] = double(at[0]) / 1e4;
      f[8] = norm, f[9] = of_g.mean, f[10] = of_g.deviation, f[11] = sorted_g[0], f[12] = sorted_g[v - 1];
      f[13] = at_least(std::log10(norm), -10), f[14] = within(norm / at_least(of_g.mean, 1e-8), 0, 10);
      f[15] = of_g.deviation / at_least(of_g.mean, 1e-8), f[20] = at_least(std::log10(f[20]), -10);
      f[23] = within((loss - of_x.mean) / at_least(of_x.deviation, 1e-8), -10, 10);
      f[24] = double(at[1]), f[25] = double(at[2]) / 100, f[29] = f[26] - f[28];
      f[33] = of_x.squares > 0 ? next_to / of_x.squares : 0 * of_x.squares;
      f[56] = within(1 - double(at[0]) / at_least(double(at[3]), 1e-8), 0, 1);
    }
    team.sync();
    team.each(64, [&](std::int64_t i) {
      const double value =
          center ? within((f[i] - double(center[i])) / at_least(double(scale[i]), 1e-8), -10, 10) : f[i];
      features[item * 64 + i] = T(value);
    });
  }

 private:
  // NaN stays NaN.
  KOLMO_HD static double at_least(double x, double low) { return x < low ? low : x; }
  KOLMO_HD static double within(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
  }
  KOLMO_HD static std::int64_t power_of_two(std::int64_t n) {
    std::int64_t p = 1;
    while (p < n) p *= 2;
    return p;
  }
  /// Sorts into `to` by a bitonic network. The end of `to` is filled up with infinities.
  template <class Team>
  KOLMO_HD static void sort(const Team& team, const T* from, std::int64_t n, double* to) {
    const std::int64_t all = power_of_two(n);
    team.each(all, [&](std::int64_t i) { to[i] = i < n ? double(from[i]) : double(INFINITY); });
    team.sync();
    for (std::int64_t size = 2; size <= all; size *= 2)
      for (std::int64_t step = size / 2; step > 0; step /= 2) {
        team.each(all / 2, [&](std::int64_t pair) {
          const std::int64_t i = pair / step * 2 * step + pair % step, j = i + step;
          const bool up = (i & size) == 0;
          const double a = to[i], b = to[j];
          if ((b < a) == up) to[i] = b, to[j] = a;
        });
        team.sync();
      }
  }
  struct Moments {
    double mean, squares, deviation;
    template <class Team>
    KOLMO_HD Moments(const Team& team, const T* x, std::int64_t n)
        : mean(double(x[0]) +
               team_sum(team, n, [&](std::int64_t i) { return double(x[i]) - double(x[0]); }) / double(n)),
          squares(team_sum(team, n,
                           [&](std::int64_t i) { return (double(x[i]) - mean) * (double(x[i]) - mean); })),
          deviation(std::sqrt(squares / double(n))) {}
  };
  KOLMO_HD static double mean(const T* x) {
    double sum = 0;
    for (int i = 0; i < 16; ++i) sum += double(x[i]);
    return sum / 16;
  }
  KOLMO_HD static double average(const T* x, std::int64_t n, std::int64_t pace) {
    const double share = pace == 0 ? 0.25 : pace == 1 ? 0.0625 : 0.015625;
    double value = double(x[0]);
    for (std::int64_t i = 1; i < n; ++i) value += share * (double(x[i]) - value);
    return value;
  }
  KOLMO_HD static double slope(const T* x, std::int64_t n, std::int64_t last) {
    const std::int64_t count = n < last ? n : last;
    const double middle = double(count - 1) / 2, first = double(x[n - count]);
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const double off = double(i) - middle;
      sum += off * (double(x[n - count + i]) - first), squares += off * off;
    }
    return count > 1 ? sum / squares : 0;
  }
  KOLMO_HD static double quantile(const double* sorted, std::int64_t n, double q) {
    const double place = q * double(n - 1);
    const auto below = std::int64_t(place);
    const double part = place - double(below), low = sorted[below];
    return below + 1 < n ? low + part * (sorted[below + 1] - low) : low;
  }
};
using StateEncoders = Items<StateEncodeArgs, StateEncoder, &StateEncodeArgs::losses, double, float>;

}  // namespace kolmo
