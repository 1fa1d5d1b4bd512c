#pragma once
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
  double budget = 10;                ///< seconds of measuring, but for the first sample of `naive`
  double margin = 0.02;              ///< gain that the lower bound must exceed for a switch
  std::uint64_t seed = 1;
  std::size_t standard = 0;  ///< number of the default configuration
  int incumbent = -1;        ///< number of the configuration in use, if it is not the default
  int naive = -1;  ///< number of a naive configuration, to be reported; measured when all else is decided
  /// Checks the results of a configuration before it may win. Returns how they agree with the oracle
  /// ("exact", "within tolerance"); throws Error when they do not.
  std::function<std::string(std::size_t config)> verify;
};

/// What was found of one configuration.
struct Finding {
  std::size_t config = 0;
  int samples = 0;
  Ratio seconds;         ///< median and its interval
  double quartiles = 0;  ///< distance between the quartiles of the times, seconds
  Ratio gain;            ///< time of the default over this one's, in pairs
  std::string verified;  ///< as `verify` said; empty when it was not asked
  std::string error;     ///< why it cannot run or gives wrong results; it cannot win then
};

struct Tuning {
  std::string name, strategy;
  std::size_t winner = 0, standard = 0;
  int naive = -1;
  std::vector<Finding> findings;  ///< of every configuration that was tried, by number
  std::size_t combinations = 0, feasible = 0, tried = 0, samples = 0, discarded = 0;
  double seconds = 0;    ///< spent measuring
  bool decided = false;  ///< false: the budget was too small for a decision; the configuration in use stays
  bool cached = false;   ///< read from a store, nothing was measured

  const Finding* find(std::size_t config) const;  ///< null when it was not tried
  const Finding& finding(std::size_t config) const;
  /// Time of the default over the winner's; 1 when the default won.
  double speedup() const { return winner == standard ? 1 : finding(winner).gain.median; }
};

/// Finds the fastest configuration of a space. A strategy proposes; then the best four that pass `verify`,
/// the default and the incumbent are measured in fresh interleaved rounds, and the configuration in use is
/// given up only for one whose gain over it has a lower 95 % bound above `margin`. The default is always
/// among those measured, so the result is never known to be slower. Throws what the default throws when it
/// cannot run.
Tuning tune(std::string_view name, const Space& space, Measurer& measurer, const TuneOptions& options = {});

/// The same with any function that gives the seconds of one run of a configuration.
using Evaluate = std::function<double(const Values&)>;
Tuning tune(std::string_view name, const Space& space, const Evaluate& evaluate,
            const TuneOptions& options = {});

}  // namespace kolmo::tune
