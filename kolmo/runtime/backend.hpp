#pragma once
#include <cstddef>
#include <functional>
#include <memory>

#include "kolmo/runtime/device.hpp"
#include "kolmo/runtime/memory/upstream.hpp"

namespace kolmo {

namespace memory {
class Pool;
}

/// What a kind of device must provide to the runtime; `cpu/` and `cuda/` implement it. Streams, events and
/// graphs are opaque handles of the backend. Functions marked noexcept are called from destructors.
class Backend : public memory::Upstream {
 public:
  virtual DeviceInfo info() const = 0;
  /// The device's memory for buffers, a pool over this backend.
  virtual memory::Pool& pool() = 0;
  /// Host memory that copies to and from the device do not block on (page-locked where that matters).
  virtual void* allocate_host(std::size_t bytes);
  virtual void deallocate_host(void* data, std::size_t bytes) noexcept;

  virtual Handle make_stream() = 0;
  virtual Handle make_background_stream() { return make_stream(); }  ///< of the lowest priority
  virtual void destroy_stream(Handle stream) noexcept = 0;
  /// Work queued from now on waits until the returned object is destroyed, or for two seconds; for
  /// measurements. Null where the device cannot do that, or does its work at once.
  virtual std::shared_ptr<void> hold(Handle /*stream*/) { return {}; }
  /// Queues host-side work that itself queues device work; a capturing host stream keeps it for replay.
  virtual void submit(Handle stream, std::function<void()> work) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes, Handle stream) = 0;
  virtual void fill(void* to, int byte, std::size_t bytes, Handle stream) = 0;

  virtual double seconds(Handle from, Handle to) = 0;
  virtual double event_cost() { return 0; }  ///< what measure_event_cost() says, seconds
  virtual double now();                      ///< seconds of the clock that the host shares with the device

  virtual void begin_capture(Handle stream) = 0;
  virtual Handle end_capture(Handle stream) = 0;
  virtual void abandon_capture(Handle stream) noexcept = 0;
  virtual void launch_graph(Handle graph, Handle stream) = 0;
  virtual void destroy_graph(Handle graph) noexcept = 0;
};

/// The backend of a usable device; throws Unsupported otherwise. Lives until the process ends.
Backend& backend(Device device);
/// Makes `device` mean `made` from now on; for simulated devices.
void add_backend(Device device, std::unique_ptr<Backend> made);
std::unique_ptr<Backend> make_host_backend(DeviceKind kind);  // cpu/host_backend.cpp
int cuda_device_count();                                      // cuda/cuda_backend.cpp
std::unique_ptr<Backend> make_cuda_backend(int index);

}  // namespace kolmo
