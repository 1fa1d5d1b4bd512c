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

/// The interface of a kind of device to the runtime; `cpu/` and `cuda/` implement it. A program may add
/// further devices of kind `cpu`, which run the operators' CPU code. Streams, events and graphs are opaque
/// handles of the backend. Functions marked noexcept are called from destructors.
class Backend : public memory::Upstream {
 public:
  virtual DeviceInfo info() const = 0;
  /// Whether the device has its own memory and clock although operators run their CPU code on it. Work given
  /// to submit() is then done at the device's own time.
  virtual bool deferred() const { return false; }
  /// The device's memory for buffers, a pool over this backend.
  virtual memory::Pool& pool() = 0;
  /// Host memory for copies to and from the device that do not block the host (page-locked if the device
  /// needs that).
  virtual void* allocate_host(std::size_t bytes);
  virtual void deallocate_host(void* data, std::size_t bytes) noexcept;

  virtual Handle make_stream() = 0;
  virtual Handle make_background_stream() { return make_stream(); }  ///< of the lowest priority
  virtual void destroy_stream(Handle stream) noexcept = 0;
  /// Another library's stream of this device; must be passed to return_stream() at the end. Devices that do
  /// their work at once have no foreign streams and return a stream of their own.
  virtual Handle borrow_stream(void* /*native*/) { return make_stream(); }
  virtual void return_stream(Handle stream) noexcept { destroy_stream(stream); }
  /// Whether the library that owns a borrowed stream is capturing it.
  virtual bool captured_by_owner(Handle /*stream*/) { return false; }
  /// Work queued from now on waits until the returned object is destroyed, or for two seconds; for
  /// measurements. Null if the device cannot do that, or does its work at once.
  virtual std::shared_ptr<void> hold(Handle /*stream*/) { return {}; }
  /// Queues host-side work that itself queues device work; a host stream that is being captured records it
  /// for replay.
  virtual void submit(Handle stream, std::function<void()> work) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes, Handle stream) = 0;
  virtual void fill(void* to, int byte, std::size_t bytes, Handle stream) = 0;

  virtual double seconds(Handle from, Handle to) = 0;
  virtual double event_cost() { return 0; }  ///< the result of measure_event_cost(), seconds
  virtual double now();                      ///< seconds of the clock common to host and device

  virtual void begin_capture(Handle stream) = 0;
  virtual Handle end_capture(Handle stream) = 0;
  virtual void abandon_capture(Handle stream) noexcept = 0;
  virtual void launch_graph(Handle graph, Handle stream) = 0;
  virtual void destroy_graph(Handle graph) noexcept = 0;
};

/// The backend of a usable device; throws Unsupported otherwise. Lives until the process ends.
Backend& backend(Device device);
/// Makes `device` refer to `made` from now on.
void add_backend(Device device, std::unique_ptr<Backend> made);
std::unique_ptr<Backend> make_host_backend(DeviceKind kind);  // cpu/host_backend.cpp
int cuda_device_count();                                      // cuda/cuda_backend.cpp
std::unique_ptr<Backend> make_cuda_backend(int index);
/// The backend of the emulated GPU; defined only if kolmo_simt is linked.
[[gnu::weak]] std::unique_ptr<Backend> make_simt_backend();

}  // namespace kolmo
