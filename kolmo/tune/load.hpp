#pragma once
#include "kolmo/base/error.hpp"

namespace kolmo::tune {

/// Thrown when other work disturbed most samples.
struct Busy : Error {
  using Error::Error;
};

/// What other work has taken from this process so far, in seconds; differences matter. Zero where the system
/// does not tell.
struct Load {
  double stalled = 0;  ///< this process's threads waited for a processor: /proc/self/task/*/schedstat
  /// Seconds taken by other virtual machines, per processor: steal in /proc/stat.
  double stolen = 0;
};
Load machine_load();

/// Whether a span of `seconds` between two readings was disturbed: threads waited for a processor over 5 % of
/// it, or time was stolen. Stolen time is counted in ticks of 10 ms, so a short span in which a tick falls
/// counts as disturbed.
bool disturbed(const Load& before, const Load& after, double seconds);

}  // namespace kolmo::tune
