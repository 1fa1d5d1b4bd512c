#pragma once
#include <cmath>
#include <vector>

#include "kolmo/base/random.hpp"
#include "kolmo/predict/record/training_log.hpp"

namespace kolmo::predict::simulated {

/// A training whose loss follows a lag law, with noise: floor + amplitude S^-power + gain lag(rate), S the sum of rates so far. The
/// rate falls to 0 from step `decay` on, within a fifth of the training.
struct Run {
  int steps = 1000, decay = 1 << 30;
  double floor = 0.5, amplitude = 3, power = 0.3, gain = 0.4, noise = 0.01;
  std::uint64_t seed = 1;

  std::vector<LogRow> rows() const {
    std::vector<LogRow> all;
    double sum = 0, lag = 1;
    const NormalValue<double> normal{0, noise};
    for (int i = 0; i < steps; ++i) {
      const double rate = std::max(0.0, std::min(1.0, 1 - double(i - decay) * 5 / steps));
      sum += rate, lag += (rate - lag) / 10;
      const double error = normal(Philox(seed)(std::uint64_t(i), 0), 0);
      LogRow row;
      row.step = i + 1, row.rate = 0.01 * rate;
      row.loss = (floor + amplitude * std::pow(sum + 10, -power) + gain * lag) * std::exp(error);
      row.gradient_norm = 1 + 10 / (sum + 10);
      all.push_back(row);
    }
    return all;
  }
  Blocks blocks() const { return log_of(rows()).blocks(); }
};

/// Runs of several amplitudes, some with a decay.
inline std::vector<Blocks> runs(int count, int steps = 600) {
  std::vector<Blocks> all;
  for (int i = 0; i < count; ++i) {
    Run run{.steps = steps, .seed = std::uint64_t(i) + 10};
    run.amplitude = 2 + 0.3 * (i % 5), run.floor = 0.4 + 0.1 * (i % 3);
    if (i % 4) run.decay = steps * (1 + i % 3) / 4;
    all.push_back(run.blocks());
  }
  return all;
}
inline std::vector<const Blocks*> pointers(const std::vector<Blocks>& runs) {
  std::vector<const Blocks*> all;
  for (const Blocks& b : runs) all.push_back(&b);
  return all;
}

}  // namespace kolmo::predict::simulated
