#pragma once
#include <functional>
#include <optional>
#include <span>

#include "kolmo/flow/estimate/batching.hpp"
#include "kolmo/flow/infer/checkpoint.hpp"
#include "kolmo/flow/infer/target_search.hpp"
#include "kolmo/runtime/streams.hpp"

namespace kolmo {

class Progress;

/// Searches share the data, how it is estimated and on which devices, and where finished work goes. `work` and `progress`,
/// which counts estimates times rows, may be null.
struct SchedulerOptions {
  const Series& series;
  const EstimatorOptions& estimator;  ///< settled
  Streams streams;
  std::optional<BatchLimits> limits;  ///< default: those of the streams' devices
  FinishedWork* work = nullptr;
  Progress* progress = nullptr;
  /// Called when every search is finished or waits, with whether rounds were estimated, not only replayed, since the last call.
  /// Lets searches go on, and returns how many estimates they need for that; 0 if none goes on.
  std::function<std::int64_t(bool estimated)> go_on{};
};

/// Brings searches to their end. Rounds of all of them that fit together are estimated in one batch, and a long round in
/// several. Each device has a pipeline, so that the host embeds the next batch while it estimates. If a device is lost, the others
/// estimate its batches again. Rounds whose records `work` has are replayed; the record of every other round is added to it, as
/// (TargetSearch::number, number of the round). Results depend on neither devices nor batches. Searches that wait for each other go on together, by SchedulerOptions::go_on.
void run_searches(std::span<TargetSearch* const> searches, const SchedulerOptions& options);

struct Replayed {
  std::int64_t rounds = 0, estimates = 0;
};
/// Replays the rounds of a search that the records hold, from a number on, up to the first that they lack or until it waits.
Replayed replay(TargetSearch& search, const FinishedWork::Records& records, std::int64_t first = 0);

}  // namespace kolmo
