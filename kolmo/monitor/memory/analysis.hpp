#pragma once
#include <optional>

#include "kolmo/runtime/memory/trace.hpp"

namespace kolmo::memory {

/// Statistics of one requested size.
struct SizeUse {
  std::uint64_t requested = 0, granted = 0;
  std::uint64_t count = 0;
  std::uint64_t peak_live = 0;  ///< largest number of blocks of this size live at once
  std::uint64_t wasted() const { return (granted - requested) * peak_live; }
};
struct TagUse {
  std::string tag;
  std::uint64_t count = 0, bytes = 0, live_bytes = 0, peak_bytes = 0;
  double median_life = 0, oldest = 0;  ///< seconds: lifetime of freed blocks; age of the oldest live block
  double slope = 0;                    ///< bytes per second, Theil-Sen over windows
  bool leak_suspect = false;
};
struct Recommendation {
  std::string rule, evidence, action;
  std::uint64_t bytes;  ///< expected saving of reserved memory, or of bytes requested from the upstream
};
struct Moment {
  std::uint64_t requested, granted, reserved;
};

/// Analysis of a pool over a trace; sizes in bytes. docs/memory.md defines every number.
struct PoolAnalysis {
  PoolStats end;
  std::uint64_t allocations = 0, frees = 0, reserves = 0, releases = 0, retries = 0, failures = 0;
  std::uint64_t from[memory_sources] = {};
  std::uint64_t peak_requested = 0, peak_granted = 0;
  double peak_seconds = 0;  ///< time of the peak of requested memory
  /// Fragmentation at that time; empty if the events do not tell, or if nothing was live.
  std::optional<double> peak_internal_fragmentation;
  /// True if events were lost and the peak that the pool itself counted (PoolStats) is above peak_requested:
  /// the peak may then lie in the lost events. The numbers of this struct are those of the remaining events.
  bool peak_may_be_lost = false;
  std::uint64_t lower_bound = 0;    ///< L: peak of live bytes, rounded up to 256 each
  std::uint64_t packed = 0;         ///< A: offline packing of the recorded lifetimes
  std::uint64_t reserved_peak = 0;  ///< R
  double reuse_potential = 0;       ///< 1 - A / R
  std::vector<Moment> course;       ///< maxima over equal slices of time
  std::vector<SizeUse> sizes;       ///< by count times size, the largest first
  std::vector<TagUse> tags;         ///< by peak, the largest first
  std::vector<Recommendation> recommendations;
};

/// Analyses a pool whose events and state are in the trace. `slices` is the number of time slices in
/// `course`.
PoolAnalysis analyse(const Trace& trace, std::size_t pool, std::size_t slices = 72);
/// Applies the rules to the trace and its analysis.
std::vector<Recommendation> recommend(const Trace& trace, std::size_t pool, const PoolAnalysis& analysis);
nlohmann::ordered_json to_json(const PoolAnalysis& analysis);

/// The median of the slopes between all pairs of points (Theil 1950, Sen 1968), per step of the index.
double theil_sen(const std::vector<double>& values);

}  // namespace kolmo::memory
