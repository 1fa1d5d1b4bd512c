#pragma once
#include <string>
#include <vector>

#include "kolmo/runtime/metrics.hpp"

namespace kolmo::monitor {

inline constexpr const char* prometheus_type = "text/plain; version=0.0.4; charset=utf-8";

/// Writes the metrics in Prometheus' text format, version 0.0.4.
std::string prometheus_text(const std::vector<metrics::Family>& families);

/// name{label="value",...} in Prometheus notation; identifies a series.
std::string series_name(const std::string& name, const metrics::Labels& labels);

}  // namespace kolmo::monitor
