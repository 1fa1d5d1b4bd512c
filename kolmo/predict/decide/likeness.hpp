#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace kolmo::predict {

/// The spread of a learned forecaster when so many blocks of a training were seen.
struct SpreadAt {
  std::size_t seen;
  double spread;
};

/// Whether a training is like those that a forecaster has learned from, by the spread of its members `ahead` blocks on. That is compared
/// with its spread on the runs of the store, forecast by members that had not learned from them, at the same stage of the run: stages
/// are 10 to 19 blocks seen, 20 to 39, 40 to 79 and so on.
class Likeness {
 public:
  static constexpr std::size_t ahead = 5;

  Likeness() = default;
  /// Takes the limit of each stage: the 95 % quantile of the spreads at it. A stage with fewer than 20 of them has the limit of the one before.
  explicit Likeness(std::span<const SpreadAt> of_store);
  static Likeness of_limits(std::vector<double> limits);
  const std::vector<double>& limits() const { return limits_; }

  /// More than a fifth of the spreads of a training, where 5 % would be expected, are above their limit. Without limits none is.
  bool unlike(std::span<const SpreadAt> of_training) const;

 private:
  std::vector<double> limits_;
};

}  // namespace kolmo::predict
