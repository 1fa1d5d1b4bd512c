// A ship seen by an imprecise radar: a Kalman filter of position and velocity in the plane.
#include <cmath>

#include "examples/plot.hpp"
#include "kolmo/ops/random/random_normal/random_normal.hpp"
#include "kolmo/ops/timeseries/kalman_filter_step/kalman_filter_step.hpp"

int main(int argc, char** argv) {
  using example::Numbers;
  constexpr int steps = 120;
  constexpr double noise = 3;
  kolmo::Stream stream;
  Numbers error(2 * steps);
  kolmo::random_normal(
      {.values = kolmo::tensor(error.data(), {2 * steps}), .n = 2 * steps, .seed = 4, .deviation = noise},
      stream);
  double x[] = {0, 0, 0, 0},
         P[16] = {100, 0, 0, 0, 0, 100, 0, 0, 0, 0, 10, 0, 0, 0, 0, 10};  // position, velocity
  double F[] = {1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1}, H[] = {1, 0, 0, 0, 0, 1, 0, 0},
         R[] = {9, 0, 0, 9};
  double Q[16] = {};
  for (int i = 0; i < 4; ++i) Q[5 * i] = i < 2 ? 1e-3 : 1e-2;
  Numbers true_x, true_y, seen_x, seen_y, found_x, found_y;
  double off_seen = 0, off_found = 0;
  for (int t = 0; t < steps; ++t) {
    const double px = t, py = 30 + 20 * std::sin(0.06 * t);
    double z[] = {px + error[2 * std::size_t(t)], py + error[2 * std::size_t(t) + 1]};
    kolmo::kalman_filter_step({.x = kolmo::tensor(x, {4}),
                               .covariance = kolmo::tensor(P, {4, 4}),
                               .z = kolmo::tensor(z, {2}),
                               .transition = kolmo::tensor(F, {4, 4}),
                               .process_noise = kolmo::tensor(Q, {4, 4}),
                               .observation = kolmo::tensor(H, {2, 4}),
                               .measurement_noise = kolmo::tensor(R, {2, 2}),
                               .x_next = kolmo::tensor(x, {4}),
                               .covariance_next = kolmo::tensor(P, {4, 4})},
                              stream);
    true_x.push_back(px), true_y.push_back(py), seen_x.push_back(z[0]), seen_y.push_back(z[1]);
    found_x.push_back(x[0]), found_y.push_back(x[1]);
    if (t < 20) continue;  // the filter has settled
    off_seen += std::pow(z[0] - px, 2) + std::pow(z[1] - py, 2);
    off_found += std::pow(x[0] - px, 2) + std::pow(x[1] - py, 2);
  }
  std::printf("off by %.2f as seen, by %.2f as filtered (root mean square)\n",
              std::sqrt(off_seen / (steps - 20)), std::sqrt(off_found / (steps - 20)));
  example::Plot plot("Kalman filter of a track", "east / km", "north / km", {0, 120}, {0, 70});
  plot.points(seen_x, seen_y, "measured", "#bbb", 2.5);
  plot.line(true_x, true_y, "true", "#333", true), plot.line(found_x, found_y, "filtered", "#2471a3");
  plot.save(argc > 1 ? argv[1] : nullptr);
  return off_found < 0.45 * off_seen ? 0 : 1;
}
