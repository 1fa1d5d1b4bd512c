#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace kolmo::predict {

/// The last held-out losses of a training, which say whether a lower loss can have been reached since.
class Descent {
 public:
  static constexpr std::size_t enough = 6;  ///< losses, before which nothing is excluded

  void add(std::int64_t step, double loss);
  /// Forgets the losses of later steps.
  void cut(std::int64_t step);
  /// Whether `loss` cannot have been reached by `step`: not at twice the steepest mean descent from a loss that is kept to the last one,
  /// and from below the last one by the largest rise between neighbours, which stands for the noise. Later than `longest` steps after
  /// the last loss nothing is excluded.
  bool excludes(double loss, std::int64_t step, std::int64_t longest) const;

  const std::vector<std::pair<std::int64_t, double>>& losses() const { return losses_; }

 private:
  std::vector<std::pair<std::int64_t, double>> losses_;  // with their steps, at most `enough`
};

}  // namespace kolmo::predict
