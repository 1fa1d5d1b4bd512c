#pragma once
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "kolmo/tune/measurer.hpp"
#include "kolmo/tune/statistics.hpp"

namespace kolmo::tune {

/// Samples of many configurations, taken in rounds: within a round each configuration is measured at most
/// once, in an order that rotates from round to round, so that drift of the clock hits all alike.
class Trials {
 public:
  Trials(Measurer& measurer, std::size_t configs);

  /// One round over these configurations; those that failed or are held back are left out. False once the
  /// budget is spent.
  bool round(std::span<const std::size_t> configs);
  void hold_back(std::size_t config, bool on) { held_back_[config] = on; }
  bool exhausted() const { return measurer_.spent() - start_ >= budget_; }
  /// Seconds of the measurer's clock since the beginning; unlimited at first.
  void set_budget(double seconds) { budget_ = seconds; }

  /// By round, NaN where there is no sample.
  std::span<const double> times(std::size_t config) const { return times_[config]; }
  bool measured(std::size_t config) const;
  /// Why a configuration cannot run; empty when it can.
  const std::string& error(std::size_t config) const { return errors_[config]; }
  /// The best first, by the median of their paired ratios to `reference`; those without samples left out.
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
  std::vector<std::vector<double>> times_;
  std::vector<std::string> errors_;
  std::vector<bool> prepared_, held_back_;
  std::size_t rounds_ = 0, samples_ = 0, discarded_ = 0;
};

}  // namespace kolmo::tune
