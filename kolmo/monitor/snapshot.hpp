#pragma once
#include <nlohmann/json.hpp>
#include <vector>

#include "kolmo/monitor/history.hpp"

namespace kolmo::monitor {

/// The metrics as JSON, as served at /api/v1/snapshot. Metric names begin with a kind of subject
/// (`kolmo_gpu_...`: "gpu"; also cpu, kernel, pool, pipeline, tuner, training, monitor), and each kind has a list with
/// one object per subject. An object holds the labels that identify the subject (gpu, uuid; kernel, device;
/// pool; ...) and its metrics under the rest of their names. A counter is given as its total and, as
/// `..._per_second`, its growth over the last 10 s. A histogram is given as {"10s", "1m", "5m": {count, mean,
/// p50, p99}} of the values recorded in that time, with quantiles at most 6.25 % off. A label that does not
/// identify the subject adds one level. Unknown values are omitted.
nlohmann::ordered_json snapshot(const std::vector<metrics::Family>& families, const History& history);

/// The curves of the page over the last five minutes: {"seconds": [...], "series": {NAME: [...]}}, with null
/// for missing values.
nlohmann::ordered_json curves(const std::vector<metrics::Family>& families, const History& history);

}  // namespace kolmo::monitor
