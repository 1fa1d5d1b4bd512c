#pragma once
#include <functional>
#include <vector>

#include "kolmo/runtime/memory/trace.hpp"

namespace kolmo::memory {

/// How a pool is seen from outside.
struct PoolView {
  std::function<PoolStats()> stats;
  std::function<TracePool()> snapshot;
};
/// Publishes the pool's state as metrics and in traces, until it is withdrawn.
void publish_metrics_of(const void* pool, PoolView view);
void withdraw_metrics_of(const void* pool);

/// Every pool of this process, at its number in trace events.
std::vector<TracePool> traced_pools();

}  // namespace kolmo::memory
