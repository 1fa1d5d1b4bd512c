#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kolmo/predict/decide/outlook.hpp"

namespace kolmo::predict {

/// Held-out losses: of the weights, named "", and of averages of them by name.
using Losses = std::vector<std::pair<std::string, double>>;

/// The loss that a forecast is asked for: `of` the "training", the "validation" or an average, for `horizon` steps to come, along a
/// decay to 0 that starts in `start` steps and lasts `length`, or without one.
struct Question {
  std::optional<std::int64_t> start;
  std::int64_t length = 0, horizon = 0;
  std::string of;
};

/// The framework for training that a Controller works through.
class Host {
 public:
  virtual ~Host() = default;

  /// The losses on batches that are known, of the steps after `from`; with `wait` those of all steps so far.
  virtual std::vector<double> losses(std::int64_t from, bool wait) = 0;
  /// The held-out losses so far of the weights, "", or of an average.
  virtual std::vector<double> validations(const std::string& of) = 0;
  /// Measures the held-out losses of these now. Empty: it cannot. None: there was no memory for it.
  virtual std::optional<Losses> evaluate(const std::vector<std::string>& of) = 0;
  virtual Outlook forecast(const Question& question) = 0;

  /// Keeps the state of the training after `step` steps, which are those so far. False: there is no memory for it. A state of this
  /// step that is kept already will do.
  virtual bool keep(std::int64_t step) = 0;
  /// Only the states kept of these steps are needed from now on.
  virtual void forget_except(std::span<const std::int64_t> steps) = 0;
  /// The training goes on from the state kept of this step: weights, optimizer, averages and the log of losses; and with
  /// `random_and_data` the generators of random numbers and the place in the data. States kept of later steps are forgotten.
  virtual void restore(std::int64_t step, bool random_and_data) = 0;
  /// Learning rates are multiplied by this from the next step on.
  virtual void set_rate_factor(double factor) = 0;
  /// The weights become the average of this name, for good.
  virtual void adopt(const std::string& average) = 0;

  /// Returns on every process what the first one says.
  virtual std::string agree(std::string value) { return value; }
  /// Returns whether it is so in all processes.
  virtual bool all(bool here) { return here; }

  /// A block of steps ended without alarm, outside a decay.
  virtual void quiet_block() {}
  /// The loss raised an alarm, and the training is where it goes on from.
  virtual void alarmed() {}
};

}  // namespace kolmo::predict
