#pragma once
#include <functional>
#include <vector>

#include "kolmo/runtime/memory/trace.hpp"

namespace kolmo::memory {

/// A pool as seen by metrics and traces.
struct PoolView {
  std::function<PoolStats()> stats;
  std::function<TracePool()> snapshot;
};
/// Publishes the pool's state in metrics and traces, until it is withdrawn.
void publish_metrics_of(const void* pool, PoolView view);
void withdraw_metrics_of(const void* pool);

/// Every pool of this process, indexed by its number in trace events.
std::vector<TracePool> traced_pools();

}  // namespace kolmo::memory
