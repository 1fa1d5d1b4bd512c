#pragma once
#include <cstdint>
#include <string>

namespace kolmo {

/// The source of an allocation's memory, cheapest first.
enum class MemorySource : std::uint8_t {
  front,     ///< memory that the same stream had freed
  chunk,     ///< free memory that no stream's work may still use
  donated,   ///< memory of another stream, after a wait for its event
  upstream,  ///< the driver or the C library
};
constexpr int memory_sources = 4;
constexpr const char* memory_source_names[memory_sources] = {"front", "chunk", "donated", "upstream"};

/// Counters of a pool since its construction, and its current state. Sizes in bytes: `live` as requested,
/// `granted` as rounded up by the pool, `reserved` as obtained from the driver or the C library. The peak of
/// live bytes is exact to 64 KiB per stream; in a trace it is exact.
struct PoolStats {
  std::string name;
  std::uint64_t allocations = 0, live = 0, live_bytes = 0, peak_bytes = 0;
  std::uint64_t granted_bytes = 0;
  std::uint64_t reserved_bytes = 0, reserved_peak = 0, limit_bytes = 0;
  std::uint64_t from[memory_sources] = {};  ///< allocations by source
  std::uint64_t chunks = 0;
  std::uint64_t largest_free = 0;  ///< the largest block available without the upstream
  std::uint64_t retries = 0;       ///< allocations for which the pool was emptied and trimmed
  std::uint64_t failures = 0;      ///< allocations that ended in OutOfMemory
  double satisfiability = 1;       ///< share of the latest requested sizes that fit `largest_free`
  std::uint64_t free_bytes() const { return reserved_bytes - granted_bytes; }
  /// The share of the granted bytes of live blocks that was not requested: 1 - requested / granted.
  double internal_fragmentation() const {
    return granted_bytes ? 1 - double(live_bytes) / double(granted_bytes) : 0;
  }
  /// The share of the free bytes outside the largest free block: 1 - largest free block / free bytes.
  double external_fragmentation() const {
    return free_bytes() ? 1 - double(largest_free) / double(free_bytes()) : 0;
  }
  /// The share of the reserved bytes that is not in use: 1 - granted / reserved.
  double idle_ratio() const {
    return reserved_bytes ? 1 - double(granted_bytes) / double(reserved_bytes) : 0;
  }
};

/// Writes a size for people: "3.20 GiB", "17 B".
std::string bytes_text(double bytes);

}  // namespace kolmo
