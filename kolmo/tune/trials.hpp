#pragma once
#include <chrono>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "kolmo/tune/measurer.hpp"
#include "kolmo/tune/statistics.hpp"

namespace kolmo::tune {

/// Samples of many configurations, taken in rounds. Each configuration is measured at most once in a round,
/// in an order that rotates from round to round, so that clock drift affects all alike.
class Trials {
 public:
  Trials(Measurer& measurer, std::size_t configs);

  /// Runs one round over these configurations; those that failed or are held back are skipped. Returns false
  /// once the budget is spent or the deadline has passed.
  bool round(std::span<const std::size_t> configs);
  void hold_back(std::size_t config, bool on) { held_back_[config] = on; }
  bool exhausted() const { return late() || measurer_.spent() - start_ >= budget_; }
  /// Whether the deadline has passed; there is none by default.
  bool late() const { return std::chrono::steady_clock::now() >= deadline_; }
  void set_deadline(std::chrono::steady_clock::time_point deadline) { deadline_ = deadline; }
  /// Sets the budget, in seconds of the measurer's clock since the beginning. It is unlimited by default.
  void set_budget(double seconds) { budget_ = seconds; }

  /// The times of a configuration by round; NaN if there is no sample.
  std::span<const double> times(std::size_t config) const { return times_[config]; }
  bool measured(std::size_t config) const;
  /// The reason why a configuration cannot run; empty if it can.
  const std::string& error(std::size_t config) const { return errors_[config]; }
  /// Lists configurations by the median of their paired ratios to `reference`, best first; those without
  /// samples are omitted.
  std::vector<std::size_t> ranked(std::size_t reference) const;

  std::size_t configs() const { return times_.size(); }
  std::size_t rounds() const { return rounds_; }
  std::size_t samples() const { return samples_; }
  std::size_t discarded() const { return discarded_; }
  double spent() const { return measurer_.spent() - start_; }
  double left() const { return budget_ - spent(); }

 private:
  void sample(std::size_t config);

  Measurer& measurer_;
  double start_, budget_ = std::numeric_limits<double>::infinity();
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  std::vector<std::vector<double>> times_;
  std::vector<std::string> errors_;
  std::vector<bool> prepared_, held_back_;
  std::size_t rounds_ = 0, samples_ = 0, discarded_ = 0;
};

}  // namespace kolmo::tune
