#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "kolmo/predict/forecast/forecaster.hpp"

namespace kolmo::predict {

/// Whether a training is like the runs of a store, by its losses. The curve of a training is the mean logarithm of the loss over each 5
/// blocks. The distance of two trainings is that of the first and of the latest value of their curves, each in units of its standard
/// deviation over the runs. A training is unlike the runs if the third nearest of them is further away than the third nearest other run
/// is from 95 % of the runs.
class Likeness {
 public:
  using Curve = std::vector<float>;  ///< NaN where none of the 5 blocks has a loss
  /// With fewer runs nothing is said.
  static constexpr std::size_t fewest_runs = 20;

  Likeness() = default;
  explicit Likeness(std::span<const Blocks* const> runs);
  /// Takes the curves of runs and the limits that the constructor above has found.
  Likeness(std::vector<Curve> curves, std::vector<float> limits);

  const std::vector<Curve>& curves() const { return curves_; }
  /// limits()[i] is the 95 % quantile of distances over the runs, with value i as the latest; NaN where it cannot be known.
  const std::vector<float>& limits() const { return limits_; }
  bool unlike(const Seen& training) const;

 private:
  std::vector<Curve> curves_;
  std::vector<float> limits_;
};

}  // namespace kolmo::predict
