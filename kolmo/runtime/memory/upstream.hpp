#pragma once
#include <cstddef>

namespace kolmo::memory {

/// Where a pool gets its memory, and how it orders the reuse of memory between streams. A device's backend is
/// the upstream of its pool. Any thread may call any of these; streams and events are opaque handles.
class Upstream {
 public:
  using Handle = void*;
  virtual ~Upstream() = default;

  /// Memory for work queued on `stream` from now on, aligned to 256 bytes; a null stream: for any work.
  /// Throws OutOfMemory.
  virtual void* allocate(std::size_t bytes, Handle stream) = 0;
  /// Takes memory back after the work queued on `stream` so far; a null stream: nothing uses it any more.
  virtual void deallocate(void* data, std::size_t bytes, Handle stream) noexcept = 0;
  virtual void trim() = 0;  ///< gives unused memory back to the system

  virtual void synchronize(Handle stream) = 0;
  virtual Handle make_event(bool timed) = 0;  ///< not timed is cheaper, and waiting for it sleeps
  virtual void destroy_event(Handle event) noexcept = 0;
  virtual void record(Handle event, Handle stream) = 0;
  virtual void wait(Handle stream, Handle event) = 0;
  virtual bool done(Handle event) = 0;  ///< whether the work before the latest record() has finished
  virtual void synchronize_event(Handle event) = 0;
};

}  // namespace kolmo::memory
