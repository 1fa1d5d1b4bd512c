#pragma once
#include <cstdint>
#include <vector>

#include "kolmo/tune/measurer.hpp"

namespace kolmo::tune {

/// The deviations of a simulated device from constant times, as shares of the time; `period` is in seconds.
struct Noise {
  double scatter = 0.01;   ///< standard deviation of each sample
  double outliers = 0.01;  ///< probability of a disturbed sample, 20 to 200 % slower
  double drift = 0.03;     ///< amplitude of the slow variation of the device's clock
  double period = 0.5;     ///< period of that variation, seconds of device time
};

/// Replays recorded or modelled times with noise and drift on a virtual clock. The same seed gives the same
/// samples. A time of 0 marks a configuration that cannot run.
class SimulatedMeasurer final : public Measurer {
 public:
  SimulatedMeasurer(std::vector<double> seconds, const Noise& noise, std::uint64_t seed);

  double prepare(std::size_t config) override;
  std::optional<double> sample(std::size_t config) override;
  double spent() const override { return clock_; }
  /// The time of a configuration without noise.
  double truth(std::size_t config) const { return seconds_[config]; }
  /// The regret of a choice: its time without noise over that of the best, minus 1.
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
