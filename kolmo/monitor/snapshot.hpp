#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "kolmo/monitor/history.hpp"

namespace kolmo::monitor {

/// The metrics for people and programs, as served at /api/v1/snapshot. One list for each subject that metric
/// names begin with (`kolmo_gpu_...` in "gpu"; also cpu, kernel, pool, pipeline, tuner, monitor), with one
/// object for each of its subjects: what identifies it (gpu, uuid; kernel, device; pool; ...) and its metrics
/// under the rest of their names. A counter is given as its total and, as `..._per_second`, its growth over
/// the last 10 s; a histogram as {"10s", "1m", "5m": {count, mean, p50, p99}}, of what was recorded in that
/// time, with quantiles at most 6.25 % off. A label that does not identify the subject is one more level.
/// What is not known is left out.
nlohmann::ordered_json snapshot(const std::vector<metrics::Family>& families, const History& history);

/// The curves of the page: of the last five minutes, {"seconds": [...], "series": {NAME: [...]}}, with null
/// where there is no value.
nlohmann::ordered_json curves(const std::vector<metrics::Family>& families, const History& history);

}  // namespace kolmo::monitor
