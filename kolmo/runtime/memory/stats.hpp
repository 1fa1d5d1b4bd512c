#pragma once
#include <cstdint>
#include <string>

namespace kolmo {

/// Where an allocation's memory came from, the cheapest first.
enum class MemorySource : std::uint8_t {
  front,     ///< what the same stream had freed
  chunk,     ///< free memory that no stream's work may still be using
  donated,   ///< memory of another stream, whose event the stream now waits for
  upstream,  ///< the driver or the C library
};
constexpr int memory_sources = 4;
constexpr const char* memory_source_names[memory_sources] = {"front", "chunk", "donated", "upstream"};

/// Counters of a pool since it was made, and its state now. Sizes in bytes: `live` as asked for, `granted` as
/// rounded up to what the pool hands out, `reserved` as taken from the driver or the C library. The peak of
/// live bytes is exact to 64 KiB a stream; a trace has it exactly.
struct PoolStats {
  std::string name;
  std::uint64_t allocations = 0, live = 0, live_bytes = 0, peak_bytes = 0;
  std::uint64_t granted_bytes = 0;
  std::uint64_t reserved_bytes = 0, reserved_peak = 0, limit_bytes = 0;
  std::uint64_t from[memory_sources] = {};  ///< allocations by source
  std::uint64_t chunks = 0;
  std::uint64_t largest_free = 0;  ///< the largest block the pool could hand out without the upstream
  std::uint64_t retries = 0;       ///< allocations for which the pool had to be emptied and trimmed
  std::uint64_t failures = 0;      ///< allocations that ended in OutOfMemory
  double satisfiability = 1;       ///< share of the latest sizes asked for that fit `largest_free`
  std::uint64_t free_bytes() const { return reserved_bytes - granted_bytes; }
  /// 1 - requested / granted of the live blocks.
  double internal_fragmentation() const {
    return granted_bytes ? 1 - double(live_bytes) / double(granted_bytes) : 0;
  }
  /// 1 - largest free block / free bytes.
  double external_fragmentation() const {
    return free_bytes() ? 1 - double(largest_free) / double(free_bytes()) : 0;
  }
  /// 1 - granted / reserved.
  double idle_ratio() const {
    return reserved_bytes ? 1 - double(granted_bytes) / double(reserved_bytes) : 0;
  }
};

/// "3.20 GiB", "17 B".
std::string bytes_text(double bytes);

}  // namespace kolmo
