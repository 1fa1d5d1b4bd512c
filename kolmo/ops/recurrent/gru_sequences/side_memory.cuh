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
constexpr int side_ranks = 8;     // at most
constexpr int side_controls = 8;  // planned inputs at most
constexpr int decoded = 6;        // sums of a plan's state, and its largest logit
/// Barriers of a tile: of states at even steps, of those at odd steps or of r h, and two of the sums of states.
constexpr int side_barriers = 4, of_sums = 2;
static_assert(side_threads == side_units * side_tile);

struct alignas(8) Two {
  float v[2];
};

/// The shared memory of a rank, which has room for n units of state.
struct SideMemory {
  int rows;  ///< of state: those from n on are 0
  std::size_t count = 0;
  float *barriers, *sums, *of_warps, *of_ranks, *input, *planned, *reset, *of_controls, *control, *first_loss,
      *loss, *scales, *state, *other;
  unsigned* largest;

  KOLMO_HD SideMemory(float* memory, int n) : rows((n + side_depth - 1) / side_depth * side_depth) {
    const auto take = [&](int size) {
      float* const at = memory ? memory + count : nullptr;
      count += std::size_t(size + 3) / 4 * 4;
      return at;
    };
    barriers = take(side_barriers * side_tiles * 2);
    sums = take(side_tiles * side_warps * 2 * side_threads);             // [tile][warp][place][unit][plan]
    of_warps = take(side_tiles * side_warps * decoded * side_tile);      // [tile][warp][sum][plan]
    of_ranks = take(2 * side_tiles * side_ranks * decoded * side_tile);  // [parity][tile][rank][sum][plan]
    input = take(side_tiles * 3 * side_threads);                         // [tile][gate][unit][plan]
    planned = take(side_tiles * 3 * side_threads);                       // the same with planned inputs
    reset = take(side_tiles * side_threads);                             // [tile][unit][plan], r
    of_controls = take(3 * side_controls * side_units), control = take(side_controls * side_plans);
    first_loss = take(side_plans), loss = take(side_plans);
    scales = take(2 * side_plans);  // of the states of a plan, and their reciprocals
    largest = reinterpret_cast<unsigned*>(take(3 * side_units));  // [gate][unit], bits of the largest weight
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
  float* last;
  bool before;
  std::int64_t parts;  ///< among so many groups of ranks the plans of a member are shared out evenly
};

}  // namespace
}  // namespace kolmo::cuda
