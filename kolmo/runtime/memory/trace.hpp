#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "kolmo/runtime/memory/stats.hpp"

namespace kolmo::memory {

enum class Action : std::uint8_t {
  allocate,
  free,
  reserve,  ///< a chunk was obtained from the upstream
  release,  ///< a chunk was released to the upstream
  retry,    ///< the upstream had no memory at first, so the pool was emptied
  fail,     ///< the allocation threw OutOfMemory
};

struct TraceEvent {
  std::uint64_t nanoseconds = 0;  ///< since tracking began
  std::uint64_t address = 0;
  std::uint64_t requested = 0, granted = 0;  ///< in bytes; for a chunk both are its size
  std::uint16_t tag = 0, stream = 0, thread = 0;
  std::uint8_t pool = 0;
  Action action = Action::allocate;
  MemorySource source = MemorySource::front;
};

/// A range of a chunk at the end of the trace.
struct TraceBlock {
  std::uint64_t address, bytes;
  bool used;
};
struct TraceChunk {
  std::uint64_t address, bytes;
  std::vector<TraceBlock> blocks;
};
struct TracePool {
  PoolStats stats;
  std::vector<TraceChunk> chunks;
};

/// The events in the pools of a process while tracking was on, in order, and the state of the pools at the
/// end.
struct Trace {
  std::string began;              ///< UTC
  double seconds = 0;             ///< duration
  std::uint64_t lost = 0;         ///< events overwritten in the ring, which are the oldest
  std::vector<std::string> tags;  ///< tag 0 is ""
  std::vector<TracePool> pools;
  std::vector<TraceEvent> events;
};

nlohmann::ordered_json to_json(const PoolStats& stats);
nlohmann::ordered_json to_json(const Trace& trace);
/// Throws InvalidArgument, naming `file`, if it is not a trace in a format this version reads.
Trace read_trace(const nlohmann::ordered_json& json, const std::string& file);

}  // namespace kolmo::memory
