#pragma once
#include <string>

#include "kolmo/predict/analysis/sweep.hpp"

namespace kolmo::predict {

/// "1 to 3": the 90 % interval of a run's rank, or "1" if both ends are equal.
std::string rank_interval(const SweepRun& run);

/// A sweep as one self-contained HTML page: where each run is going with its interval, its rank, and whether it may stop. The page loads
/// nothing. A pure function: equal input gives equal bytes.
std::string sweep_report(const Sweep& sweep, const std::string& folder, const std::string& command);

}  // namespace kolmo::predict
