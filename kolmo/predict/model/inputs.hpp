#pragma once
#include <array>
#include <cmath>
#include <vector>

#include "kolmo/predict/forecast/forecaster.hpp"
#include "kolmo/predict/model/member.hpp"

namespace kolmo::predict {

/// What the world model keeps of the logarithms of losses: the last one, two exponential averages, and a damped linear trend (Holt),
/// from which a prediction starts. In a rollout predictions take the place of measured losses.
template <class T>
struct LossTrace {
  static constexpr T fast = T(0.3), slow = T(0.07), damping = T(0.93);
  T level, fast_mean, slow_mean;
  T anchor, trend;  ///< where the trend is, and its change from block to block

  static LossTrace from(T first) { return {first, first, first, first, 0}; }
  /// Takes the next measured one.
  void observe(T next) {
    move_to(next);
    const T before = anchor;
    anchor = T(0.45) * next + T(0.55) * (anchor + damping * trend);
    trend = T(0.15) * (anchor - before) + T(0.85) * damping * trend;
  }
  /// Goes on from the trend, in a rollout.
  void leave() { level = anchor; }
  /// Takes a prediction: the trend goes on, and `d` is added. Returns the change.
  T imagine(T d) {
    trend *= damping;
    move_to(level + trend + d);
    return trend + d;
  }
  /// Writes the four inputs that follow from the losses, `stride` elements apart.
  void write(T change, T* x, std::ptrdiff_t stride) const {
    x[0] = level, x[stride] = 10 * change;
    x[2 * stride] = 10 * (fast_mean - level), x[3 * stride] = 5 * (slow_mean - level);
  }

 private:
  void move_to(T next) {
    level = next;
    fast_mean += fast * (next - fast_mean), slow_mean += slow * (next - slow_mean);
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
