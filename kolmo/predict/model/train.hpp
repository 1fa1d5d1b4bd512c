#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "kolmo/base/tensor.hpp"
#include "kolmo/predict/model/inputs.hpp"
#include "kolmo/predict/record/training_log.hpp"

namespace kolmo::predict {

/// The options by which the world model is trained.
struct TrainingOptions {
  int members = 5;
  int hidden = 48;
  int epochs = 170;
  std::uint64_t seed = 0;
  int threads = 0;     ///< 0: all cores. The result does not depend on it
  double rate = 6e-3;  ///< the highest of the one-cycle schedule
  double weight_decay = 1e-3;
  double closed_loop = 0.6;  ///< weight of the losses of predictions that run on their own predictions
  Device device{};           ///< where members are trained
  std::int64_t most_updates = 1500;  ///< of a member, however many windows there are

  /// Throws InvalidArgument for sizes that make no model.
  void check() const;
};

/// The blocks that a member learns from at once, how many of them it sees ahead, and the fewest that a window has.
inline constexpr int window = 48, ahead = 10, least_window = 20;

/// The parts [first, end) of a run between gaps of more than 3 blocks.
std::vector<std::pair<std::size_t, std::size_t>> stretches(const Blocks& blocks);

/// Windows of trainings, which overlap by half, and what a member is given of each block. A stretch is a run of its own.
struct Windows {
  struct Run {
    std::vector<double> block, planned;  ///< [block][unit]
    std::vector<LossTrace<double>> trace;
    int blocks() const { return int(trace.size()); }
  };
  struct Window {
    int run, first;
  };
  std::vector<Run> runs;
  std::vector<Window> windows;

  int count() const { return int(windows.size()); }
  explicit Windows(std::span<const Blocks* const> runs);
};

/// Trains members, each on a bootstrap sample of the runs: AdamW, gradients clipped at norm 1, a one-cycle rate. A batch of 64 windows,
/// each moved by a random number of blocks, is read up to a random block, where each next block is predicted from the real ones; then 10
/// blocks follow in closed loop, in which predictions take the place of losses. A member depends on the options, the windows and its number
/// alone; on another device than the CPU, where members are trained side by side, it differs in the order of sums. Float or double.
template <class T>
std::vector<std::vector<T>> train_members(const Windows& windows, const TrainingOptions& options,
                                          std::span<const std::uint64_t> numbers);
template <class T>
std::vector<T> train_member(const Windows& windows, const TrainingOptions& options, std::uint64_t number) {
  return std::move(train_members<T>(windows, options, {&number, 1})[0]);
}

}  // namespace kolmo::predict
