#pragma once
#include <array>
#include <cmath>
#include <vector>

#include "kolmo/predict/forecast/forecaster.hpp"
#include "kolmo/predict/model/member.hpp"

namespace kolmo::predict {

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
