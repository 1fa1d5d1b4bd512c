#pragma once
#include "kolmo/base/error.hpp"

namespace kolmo::tune {

/// Other work disturbed most samples.
struct Busy : Error {
  using Error::Error;
};

/// What other work has taken from this process so far, in seconds; differences matter. Zero where the system
/// does not tell.
struct Load {
  double stalled = 0;  ///< this process's threads waited for a processor: /proc/self/task/*/schedstat
  double stolen = 0;   ///< by other virtual machines, per processor: steal in /proc/stat
};
Load machine_load();

/// Whether a span of `seconds` between two readings was disturbed: threads waited for over 5 % of it, or time
/// was stolen. Time stolen is counted in ticks of 10 ms, so a short span that holds one is lost.
bool disturbed(const Load& before, const Load& after, double seconds);

}  // namespace kolmo::tune
