#pragma once
#include <atomic>
#include <cstdint>
#include <string_view>

#include "kolmo/runtime/memory/trace.hpp"

namespace kolmo::memory {

/// Whether allocations are recorded. If not, the cost is one predictable branch.
inline std::atomic<bool> tracking{false};

/// Starts recording into a lock-free ring of `events` places of 48 bytes; the newest events are kept.
void start_tracking(std::size_t events = 64 << 10);
Trace stop_tracking();

/// Allocations of this thread carry the name of the innermost Tag that was constructed while tracking was on.
///   const memory::Tag tag("surrogates");
class Tag {
 public:
  explicit Tag(std::string_view name) : before_(current) {
    if (tracking.load(std::memory_order_relaxed)) current = intern(name);
  }
  Tag(const Tag&) = delete;
  Tag& operator=(const Tag&) = delete;
  ~Tag() { current = before_; }
  static std::uint16_t now() { return current; }

 private:
  static std::uint16_t intern(std::string_view name);
  static inline constinit thread_local std::uint16_t current = 0;
  std::uint16_t before_;
};

/// Called by pools. Fills in time, tag and thread.
void record(TraceEvent event);
/// The number of the pool with this name in events.
std::uint8_t traced_pool(const std::string& name);

}  // namespace kolmo::memory
