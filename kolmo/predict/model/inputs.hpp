#pragma once
#include <array>
#include <cmath>
#include <vector>

#include "kolmo/predict/forecast/forecaster.hpp"
#include "kolmo/predict/model/member.hpp"

namespace kolmo::predict {

/// What the world model keeps of the losses: the logarithm of the loss of a block and two exponential averages of it. In a rollout
/// predicted losses take the place of measured ones.
template <class T>
struct LossTrace {
  static constexpr T fast = T(0.3), slow = T(0.07);
  T level, fast_mean, slow_mean;

  void move_to(T next) {
    level = next;
    fast_mean += fast * (next - fast_mean), slow_mean += slow * (next - slow_mean);
  }
  /// Writes the four inputs that follow from the losses, `stride` elements apart.
  void write(T change, T* x, std::ptrdiff_t stride) const {
    x[0] = level, x[stride] = 10 * change;
    x[2 * stride] = 10 * (fast_mean - level), x[3 * stride] = 5 * (slow_mean - level);
  }
};

/// The inputs of the world model for the blocks of a training from block `from` on: those that were seen, and those whose rates are
/// planned.
struct TrainingInputs {
  using Block = std::array<double, MemberSizes::inputs>;
  using Planned = std::array<double, MemberSizes::planned>;

  std::vector<Block> block;      ///< one for each block; of a planned one, the inputs of the loss are 0
  std::vector<Planned> planned;  ///< what is known of each block before it begins
  std::vector<LossTrace<double>> trace;  ///< after each block that was seen

  TrainingInputs(const Seen& seen, const RateBlocks& to_come, std::size_t from = 0);
};

}  // namespace kolmo::predict
