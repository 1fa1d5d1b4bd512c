#pragma once
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kolmo/runtime/backend.hpp"
#include "kolmo/runtime/memory/stats.hpp"

namespace kolmo {

namespace memory {
struct Front;
struct Run;
}  // namespace memory

class Buffer;
class Event;
class Graph;

/// An ordered queue of work on one device: the only way to say where an operator runs.
/// Work on a CPU or simt stream is done when the call returns; work on a CUDA stream when the device gets to
/// it.
class Stream {
 public:
  /// `threads`: CPU threads an operator may use, 0 for every core this process may use.
  explicit Stream(Device device = {}, int threads = 0);
  /// Of the device's lowest priority: its work starts when no other stream has any waiting.
  static Stream background(Device device);

  Device device() const { return state_->device; }
  int threads() const { return threads_; }
  /// The same queue, with another number of CPU threads.
  Stream with_threads(int threads) const;
  void* native() const { return state_->handle; }
  bool capturing() const { return state_->captured != nullptr; }

  void synchronize();
  void wait(const Event& event);
  /// Copies between contiguous tensors of equal dtype and size; either may be on the host.
  /// On a CUDA stream the host side must stay valid until the stream is synchronised.
  void copy(const Tensor& to, const Tensor& from);
  void fill(const Tensor& to, int byte);
  /// See Backend::hold. The work queued meanwhile must fit into the device's queue, of about a thousand
  /// launches.
  [[nodiscard]] std::shared_ptr<void> hold() { return state_->backend->hold(state_->handle); }
  void submit(std::function<void()> work) { state_->backend->submit(state_->handle, std::move(work)); }

 private:
  friend class Buffer;
  friend class Event;
  friend class Graph;
  friend Graph capture(Stream&, const std::function<void()>&);
  struct State {
    Device device;
    Backend* backend;
    Backend::Handle handle;
    memory::Front* front;
    std::vector<Buffer>* captured = nullptr;  // buffers freed while capturing live as long as the graph
    explicit State(Device device, bool background = false);
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State();
  };
  std::shared_ptr<State> state_;
  int threads_;
};

/// A point in a stream's order, and a time stamp unless it is made without.
class Event {
 public:
  explicit Event(Device device, bool timed = true)
      : backend_(&backend(device)), handle_(backend_->make_event(timed)) {}
  Event(Event&& other) noexcept : backend_(other.backend_), handle_(std::exchange(other.handle_, nullptr)) {}
  Event& operator=(Event other) noexcept;
  ~Event();

  void record(Stream& stream);
  void synchronize() { backend_->synchronize_event(handle_); }
  /// Whether the work queued before the latest record() has finished.
  bool done() const { return backend_->done(handle_); }
  /// Time from one recorded event to another of the same device; both must have happened and be timed.
  static double seconds(const Event& from, const Event& to);

 private:
  friend class Stream;
  friend class Graph;
  Backend* backend_;
  Backend::Handle handle_;
};

/// Work captured from a stream, to be replayed as a whole with the same arguments.
class Graph {
 public:
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();
  void launch(Stream& stream);

 private:
  friend Graph capture(Stream&, const std::function<void()>&);
  Graph(std::shared_ptr<Stream::State> stream, Backend::Handle handle, std::vector<Buffer> kept);
  std::shared_ptr<Stream::State> stream_;  // that was captured, and whose order the kept buffers follow
  Backend::Handle handle_;
  std::vector<Buffer> kept_;
  std::vector<std::shared_ptr<Stream::State>> elsewhere_;  // other streams it was launched on
};

/// Runs `work` with `stream` recording instead of executing. Operators never allocate, synchronise or throw
/// after their first launch, so any of them can be captured.
Graph capture(Stream& stream, const std::function<void()>& work);
/// Streams of this process that are being captured now.
int captures_in_progress();

/// Memory on a stream's device, from its stream-ordered pool: it is reused only by work queued after the
/// buffer is gone. Contents are not initialised.
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::size_t bytes, Stream& stream);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer other) noexcept;
  ~Buffer();

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  template <class Shape>
  Tensor as(DType dtype, const Shape& shape) const {
    return kolmo::tensor(data_, dtype, shape, stream_ ? stream_->device : Device{});
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  memory::Run* run_ = nullptr;
  std::shared_ptr<Stream::State> stream_;
};

PoolStats pool_stats(Device device);
void pool_trim(Device device);

}  // namespace kolmo
