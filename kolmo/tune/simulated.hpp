#pragma once
#include <cstdint>
#include <vector>

#include "kolmo/tune/measurer.hpp"

namespace kolmo::tune {

/// How a simulated device deviates from the same time always. Shares of the time, but `period` in seconds.
struct Noise {
  double scatter = 0.01;   ///< standard deviation of each sample
  double outliers = 0.01;  ///< probability of a sample that something else disturbed, 20 to 200 % slower
  double drift = 0.03;     ///< amplitude by which the clock of the whole device wanders
  double period = 0.5;     ///< of that wandering, seconds of device time
};

/// Measures nothing: replays recorded or modelled times with noise and drift on a virtual clock. The same
/// seed gives the same samples. A time of 0 is a configuration that cannot run.
class SimulatedMeasurer final : public Measurer {
 public:
  SimulatedMeasurer(std::vector<double> seconds, const Noise& noise, std::uint64_t seed);

  double prepare(std::size_t config) override;
  std::optional<double> sample(std::size_t config) override;
  double spent() const override { return clock_; }
  /// The undisturbed time of a configuration.
  double truth(std::size_t config) const { return seconds_[config]; }
  /// Regret of a choice: its undisturbed time over that of the best, less 1.
  double regret(std::size_t config) const;
  double best() const;

 private:
  double uniform();

  std::vector<double> seconds_;
  Noise noise_;
  std::uint64_t seed_, drawn_ = 0;
  double clock_ = 0;
};

}  // namespace kolmo::tune
