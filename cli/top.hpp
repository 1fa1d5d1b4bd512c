#pragma once
#include <nlohmann/json.hpp>
#include <ostream>

namespace kolmo::cli {

/// A snapshot (kolmo/monitor/snapshot.hpp) as text: devices, operators by share of time, pools, pipelines,
/// tuner; parts without content are left out. At most `rows` operators.
void print_snapshot(std::ostream& out, const nlohmann::ordered_json& snapshot, std::size_t rows);

}  // namespace kolmo::cli
