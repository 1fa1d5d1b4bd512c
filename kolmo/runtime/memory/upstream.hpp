#pragma once
#include <cstddef>

namespace kolmo::memory {

/// The source of a pool's memory, and of the events that order its reuse between streams. A device's backend
/// is the upstream of its pool. Thread-safe; streams and events are opaque handles.
class Upstream {
 public:
  using Handle = void*;
  virtual ~Upstream() = default;

  /// Returns memory, aligned to 256 bytes, for work that is queued on `stream` from now on; with a null
  /// stream, for any work. Throws OutOfMemory.
  virtual void* allocate(std::size_t bytes, Handle stream) = 0;
  /// Releases memory after the work queued on `stream` so far; with a null stream, nothing uses the memory
  /// any more.
  virtual void deallocate(void* data, std::size_t bytes, Handle stream) noexcept = 0;
  virtual void trim() = 0;  ///< returns unused memory to the system

  virtual void synchronize(Handle stream) = 0;
  /// An untimed event is cheaper, and waiting for it sleeps.
  virtual Handle make_event(bool timed) = 0;
  virtual void destroy_event(Handle event) noexcept = 0;
  virtual void record(Handle event, Handle stream) = 0;
  virtual void wait(Handle stream, Handle event) = 0;
  virtual bool done(Handle event) = 0;  ///< whether the work before the latest record() has finished
  virtual void synchronize_event(Handle event) = 0;
};

}  // namespace kolmo::memory
