#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kolmo/flow/estimate/estimate.hpp"

namespace kolmo {

/// Estimates that a search needs before it can go on. The alternatives of a task have equal dimensions.
struct Round {
  std::vector<EstimationTask> tasks;
  SurrogateRange surrogates;  ///< of each task
};

/// The inference of what drives one target, as rounds of estimates. What it does next depends on its series, its options and
/// what it took, and on nothing else: replaying the records of its rounds, in their order, brings it to the same place.
class TargetSearch {
 public:
  TargetSearch() = default;
  TargetSearch(const TargetSearch&) = delete;
  TargetSearch& operator=(const TargetSearch&) = delete;
  virtual ~TargetSearch() = default;

  /// The number of the target, which with that of a round names the round's record.
  virtual std::int64_t number() const = 0;
  /// Whether it needs a decision over all searches before next() has a further round (see SchedulerOptions::go_on).
  virtual bool waits() const { return false; }
  /// The next round; none if the search is finished or waits. Every round is taken before the next is asked for.
  virtual std::optional<Round> next() = 0;
  /// The estimates of each task of the round.
  virtual void take(std::span<const Estimates> estimates) = 0;
  /// All that the search keeps of the round that it took last, as text.
  virtual std::string record() const = 0;
  /// Takes a round from its record instead of its estimates. Returns how many estimates it had. Throws InvalidArgument if this
  /// is no such record.
  virtual std::int64_t replay(const std::string& record) = 0;
};

}  // namespace kolmo
