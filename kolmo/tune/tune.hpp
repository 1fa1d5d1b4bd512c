#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/tune/measurer.hpp"
#include "kolmo/tune/space.hpp"
#include "kolmo/tune/statistics.hpp"

namespace kolmo::tune {

struct TuneOptions {
  std::string strategy = "halving";  ///< see strategy.hpp
  double budget = 10;                ///< seconds of measuring, excluding the first sample of `naive`
  /// After this time nothing is measured or verified, except what has begun. What is not decided by then
  /// stays undecided.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  double margin = 0.02;  ///< the lower bound of the gain must exceed it for a switch
  std::uint64_t seed = 1;
  std::size_t standard = 0;  ///< index of the default configuration
  int incumbent = -1;        ///< index of the configuration in use, if not the default
  int naive = -1;            ///< index of a naive configuration, the baseline for speed-ups; measured last
  /// Checks the results of a configuration before it may win. Returns how they agree with the oracle
  /// ("exact", "within tolerance"). Throws Error if they do not, or if the configuration cannot run
  /// (cannot_run.hpp); it cannot win then. DeviceError and exceptions that are no Error end the tuning.
  std::function<std::string(std::size_t config)> verify;
};

/// The results for one configuration.
struct Finding {
  std::size_t config = 0;
  int samples = 0;
  Ratio seconds;         ///< median and its interval
  double quartiles = 0;  ///< distance between the quartiles of the times, seconds
  Ratio gain;            ///< time of the default over this one's, paired
  std::string verified;  ///< the result of `verify`; empty if it was not called
  std::string error;     ///< why it cannot run or is wrong; it cannot win then
};

struct Tuning {
  std::string name, strategy;
  std::size_t winner = 0, standard = 0;
  int naive = -1;
  std::vector<Finding> findings;  ///< of every configuration that was tried, by number
  std::size_t combinations = 0, feasible = 0, tried = 0, samples = 0, discarded = 0;
  double seconds = 0;  ///< seconds spent measuring
  /// False: the time was too short for a decision, and the configuration in use stays.
  bool decided = false;
  bool cached = false;  ///< read from a store; nothing was measured

  const Finding* find(std::size_t config) const;  ///< null if it was not tried
  const Finding& finding(std::size_t config) const;
  /// Time of the default over the winner's; 1 if the default won.
  double speedup() const { return winner == standard ? 1 : finding(winner).gain.median; }
};

/// Finds the fastest configuration of a space. A strategy proposes candidates. Then the best four that pass
/// `verify`, the default and the incumbent are measured in fresh interleaved rounds. The configuration in use
/// is replaced only by one whose gain over it has a lower 95 % bound above `margin`, and above 0 in later
/// rounds of these two alone, which no budget limits. The default is always measured, so the result is never
/// known to be slower. A configuration that turns out not to run (cannot_run.hpp) is recorded and skipped.
/// Throws Unsupported, with the reason, if it is the default.
Tuning tune(std::string_view name, const Space& space, Measurer& measurer, const TuneOptions& options = {});

/// Does the same with a function that returns the seconds of one run of a configuration.
using Evaluate = std::function<double(const Values&)>;
Tuning tune(std::string_view name, const Space& space, const Evaluate& evaluate,
            const TuneOptions& options = {});

}  // namespace kolmo::tune
