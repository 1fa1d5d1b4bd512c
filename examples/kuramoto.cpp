// Kuramoto's transition: oscillators with Lorentzian frequencies of half width 1/2 synchronise above K = 1.
#include <cmath>

#include "examples/plot.hpp"
#include "kolmo/ops/dynamics/kuramoto_evolution/kuramoto_evolution.hpp"
#include "kolmo/ops/dynamics/order_parameter/order_parameter.hpp"

int main(int argc, char** argv) {
  using example::Numbers;
  constexpr std::int64_t n = 400, strengths = 13;
  const double pi = std::acos(-1.0);
  kolmo::Stream stream;
  Numbers omega(n), theta(n), strength, r_mean, theory;
  double worst = 0;
  for (std::int64_t i = 0; i < n; ++i) omega[i] = 0.5 * std::tan(pi * ((double(i) + 0.5) / n - 0.5));
  for (int k = 0; k < strengths; ++k) {
    const double K = 0.25 * k;
    for (std::int64_t i = 0; i < n; ++i) theta[i] = 2 * pi * std::fmod(0.6180339887498949 * double(i), 1.0);
    double sum = 0, r = 0, psi = 0;
    constexpr int samples = 60, first = 40;
    for (int s = 0; s < samples; ++s) {
      kolmo::kuramoto_evolution({.theta = kolmo::tensor(theta.data(), {n}),
                                 .omega = kolmo::tensor(omega.data(), {n}),
                                 .result = kolmo::tensor(theta.data(), {n}),
                                 .strength = K,
                                 .dt = 0.1,
                                 .steps = 20},
                                stream);
      kolmo::order_parameter({.theta = kolmo::tensor(theta.data(), {n}),
                              .r = kolmo::tensor(&r, {}),
                              .psi = kolmo::tensor(&psi, {})},
                             stream);
      if (s >= first) sum += r / (samples - first);
    }
    strength.push_back(K), r_mean.push_back(sum), theory.push_back(K > 1 ? std::sqrt(1 - 1 / K) : 0);
    std::printf("K = %.2f  r = %.3f  theory %.3f\n", K, sum, theory.back());
    if (K <= 0.5 || K >= 1.5) worst = std::max(worst, std::abs(sum - theory.back()));
  }
  Numbers fine, curve;
  for (double K = 0; K <= 3; K += 0.01) fine.push_back(K), curve.push_back(K > 1 ? std::sqrt(1 - 1 / K) : 0);
  example::Plot plot("Kuramoto's transition", "coupling K", "coherence r", {0, 3}, {0, 1});
  plot.line(fine, curve, "theory, infinitely many oscillators", "#999");
  plot.points(strength, r_mean, "400 oscillators", "#c0392b", 4);
  plot.save(argc > 1 ? argv[1] : nullptr);
  return worst < 0.12 ? 0 : 1;
}
