// A noisy oscillation, an autoregressive model by Burg's method, and its forecast with intervals of 95 %.
#include <cmath>

#include "examples/plot.hpp"
#include "kolmo/ops/random/random_normal/random_normal.hpp"
#include "kolmo/ops/timeseries/ar_forecast/ar_forecast.hpp"

int main(int argc, char** argv) {
  using example::Numbers;
  constexpr std::int64_t known = 300, ahead = 40, all = known + ahead;
  kolmo::Stream stream;
  Numbers noise(all), x(all), forecast(ahead), variance(ahead), low(ahead), high(ahead), phi(2);
  double sigma2 = 0;
  kolmo::random_normal({.values = kolmo::tensor(noise.data(), {all}), .n = all, .seed = 11}, stream);
  for (std::size_t t = 0; t < x.size(); ++t)
    x[t] = noise[t] + (t > 1 ? 1.7 * x[t - 1] - 0.9 * x[t - 2] : 0);  // its period is 14 samples
  kolmo::ar_forecast({.x = kolmo::tensor(x.data(), {known}),
                      .forecast = kolmo::tensor(forecast.data(), {ahead}),
                      .variance = kolmo::tensor(variance.data(), {ahead}),
                      .coefficients = kolmo::tensor(phi.data(), {2}),
                      .noise_variance = kolmo::tensor(&sigma2, {}),
                      .lower = kolmo::tensor(low.data(), {ahead}),
                      .upper = kolmo::tensor(high.data(), {ahead}),
                      .order = 2,
                      .horizon = ahead,
                      .fit = kolmo::ArFit::burg},
                     stream);
  int inside = 0;
  Numbers past, future;
  for (std::int64_t h = 0; h < ahead; ++h) {
    const double truth = x[std::size_t(known + h)];
    inside += low[std::size_t(h)] <= truth && truth <= high[std::size_t(h)],
        future.push_back(double(known + h));
  }
  for (int t = 240; t < all; ++t) past.push_back(t);
  std::printf("phi = %.3f %.3f (true 1.7 -0.9), sigma^2 = %.3f (1); %d of %d samples inside\n", phi[0],
              phi[1], sigma2, inside, int(ahead));
  example::Plot plot("Forecast of an autoregressive series", "sample", "x", {240, 340}, {-16, 16});
  plot.band(future, low, high, "95 % interval", "#aed6f1");
  plot.line(past, Numbers(x.begin() + 240, x.end()), "series", "#333");
  plot.line(future, forecast, "forecast", "#c0392b");
  plot.save(argc > 1 ? argv[1] : nullptr);
  return inside >= 34 && std::abs(phi[0] - 1.7) < 0.1 && std::abs(phi[1] + 0.9) < 0.1 ? 0 : 1;
}
