#pragma once
// The sizes of rollouts of many plans (side_by_side.cuh), their shared memory and their arguments.
#include <algorithm>

#include "kolmo/ops/recurrent/gru_sequences/rollout_steps.hpp"

namespace kolmo::cuda {
namespace {

constexpr int side_threads = 256, side_warps = side_threads / 32;
constexpr int side_tile = 8, side_tiles = 3, side_plans = side_tiles * side_tile;
constexpr int side_units = 32;    // of a rank; a thread has a unit and a plan of each tile
constexpr int side_depth = 32;    // states that a warp multiplies
constexpr int side_controls = 8;  // planned inputs at most
constexpr int decoded = 6;        // sums of a plan's state, and its largest logit
static_assert(side_threads == side_units * side_tile);

struct alignas(8) Two {
  float v[2];
};

/// The shared memory of a rank, which has room for n units of state.
struct SideMemory {
  int rows;  ///< of state: those from n on are 0
  std::size_t count = 0;
  float *barriers, *sums, *parts, *input, *update, *reset, *candidate, *of_controls, *control, *first_loss,
      *loss, *heads, *state, *other;

  KOLMO_HD SideMemory(float* memory, int n) : rows((n + side_depth - 1) / side_depth * side_depth) {
    const auto take = [&](int size) {
      float* const at = memory ? memory + count : nullptr;
      count += std::size_t(size + 3) / 4 * 4;
      return at;
    };
    barriers = take(2 * side_tiles * 2);             // two of each tile
    sums = take(side_warps * 2 * side_threads);      // [warp][gate][unit][plan]
    parts = take(side_warps * decoded * side_tile);  // [warp][sum][plan]
    input = take(side_tiles * 3 * side_threads);     // [tile][gate][unit][plan]
    update = take(side_tiles * side_threads), reset = take(side_tiles * side_threads);  // z, r
    candidate = take(side_tiles * side_threads);  // terms of n beside the product
    of_controls = take(3 * side_controls * side_units), control = take(side_controls * side_tile);
    first_loss = take(side_plans), loss = take(side_tile);
    heads = take(2 * rows);  // [state], of the state and of its category
    state = take(side_plans * rows),
    other = take(side_plans * rows);  // [tile][unit][plan]; r h, or the next state
  }
  static std::size_t bytes(std::int64_t n) { return SideMemory(nullptr, int(n)).count * sizeof(float); }
};

/// Among how many groups of ranks the plans of a member are shared out, if so many groups run at once: no more than have a tile each.
inline std::int64_t side_parts(const RolloutSizes& size, int at_once) {
  const auto over = [&](std::int64_t plans) { return (size.batch + plans - 1) / plans; };
  return std::clamp(at_once / size.members, over(side_plans), over(side_tile));
}

struct SideJob {
  RolloutSizes size;
  const float *u, *slope, *first_loss;
  const float *h, *weights, *bias, *head_hidden, *head_stochastic, *controls, *weight_controls;
  int planned;  ///< number of planned inputs
  RolloutOutputs<float> outputs;
  float* logits;  ///< sums of e logit, in the place of another result
  float* last;
  bool before;
  std::int64_t parts;  ///< among so many groups of ranks the plans of a member are shared out evenly
};

/// Completes the results of a step of a row, which are sums: of h h in the place of the norm, of e in that of the entropy, and of e logit.
struct SideResults {
  float *norms, *entropy;
  const float* logits;
  std::int64_t categories, count;

  std::int64_t items() const { return count; }
  KOLMO_HD void operator()(std::int64_t i) const {
    norms[i] = std::sqrt(norms[i]);
    entropy[i] = categories ? std::log(entropy[i]) - logits[i] / entropy[i] : 0.F;
  }
};

}  // namespace
}  // namespace kolmo::cuda
