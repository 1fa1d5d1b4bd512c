#pragma once
#include "kolmo/flow/estimate/estimate.hpp"

namespace kolmo {

/// Whether one call of the operator makes one neighbour list, and one order of x, that serve all its surrogates.
bool shares_neighbor_lists(const EstimationTask& task, const EstimatorOptions& options);

/// Estimates a task of ksg in parts of some draws each, on all streams at once, and reports each part that is finished.
/// `progress` may be null. The values are those of one call with all draws.
Estimates estimate_in_parts(const Series& series, const EstimationTask& task, const EstimatorOptions& options,
                            const Streams& streams, Progress* progress);

}  // namespace kolmo
