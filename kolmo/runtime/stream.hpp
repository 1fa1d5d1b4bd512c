#pragma once
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kolmo/runtime/backend.hpp"
#include "kolmo/runtime/memory/stats.hpp"
#include "kolmo/runtime/stream_status.hpp"

namespace kolmo {

namespace memory {
struct Front;
struct Run;
}  // namespace memory

class Buffer;
class Event;
class Graph;

/// An ordered queue of work on one device; determines where an operator runs. Work on a CPU or simt stream is
/// done when the call returns. Work on a CUDA stream is asynchronous.
///
/// Threads: different streams may be used at once, also of one device. A stream, its copies (the same queue) and
/// the Graphs captured from it are used by one thread at a time, and may be handed over. Any thread may at any time
/// copy the object, destroy its copies, and call device(), threads(), native(), deferred() and with_threads(); destroy
/// Buffers of the stream while it is not captured; and, after Event::record() has returned, wait for the event, ask
/// whether it is done, and let a stream of its own wait for it.
class Stream {
 public:
  /// `threads`: CPU threads an operator may use, 0 for every core this process may use.
  explicit Stream(Device device = {}, int threads = 0);
  /// Another library's stream, which keeps its ownership. On `cuda` a cudaStream_t; null is the legacy
  /// default stream. On `cpu` and `simt`, where work is done at once, the result is a stream of Kolmo's own.
  /// The native stream must outlive every Stream, Buffer and Graph derived from it. Borrowed again meanwhile,
  /// it is the same queue with the same memory, which one thread at a time may use. Work of both libraries is
  /// done in the order in which it is queued. capture() works as on other streams, except for the default
  /// stream. While the owner captures it, operators without a workspace are recorded; allocating memory throws
  /// Unsupported, as does the first operator that looks for faults of its data, and Events must not be
  /// recorded. Throws InvalidArgument for a stream of another device and for cudaStreamPerThread, which is a
  /// different stream in every thread.
  static Stream borrow(Device device, void* native_handle, int threads = 0);
  /// A stream of the device's lowest priority: its work starts only if no other stream has work waiting.
  static Stream background(Device device);

  Device device() const { return state_->device; }
  int threads() const { return threads_; }
  /// The same queue, with another number of CPU threads.
  Stream with_threads(int threads) const;
  void* native() const { return state_->handle; }
  bool deferred() const { return state_->backend->deferred(); }  ///< see Backend
  bool capturing() const { return state_->captured != nullptr; }
  /// Whether work is recorded instead of done: by capture(), or by a library that owns the stream.
  bool records() const { return capturing() || captured_by_owner(); }

  /// Waits for the work queued so far. Throws InvalidArgument if an operator in it reported faulty data: its
  /// name, the argument, the fault and the first element.
  void synchronize();
  void wait(const Event& event);
  /// Copies between contiguous tensors of equal dtype and size; either may be on the host.
  /// On a CUDA stream the host side must stay valid until the stream is synchronised.
  void copy(const Tensor& to, const Tensor& from);
  void fill(const Tensor& to, int byte);
  /// Holds back the stream's work: see Backend::hold. The work queued meanwhile must fit into the device's
  /// queue, which holds about a thousand launches.
  [[nodiscard]] std::shared_ptr<void> hold() { return state_->backend->hold(state_->handle); }
  /// Returns the object through which the operator being launched reports faults of its data.
  Status status() const { return state_->status.current; }
  StreamStatus& data_status() { return state_->status; }
  /// With false, operators on this stream skip checks of their data that cost time. Their contracts define
  /// the behaviour for faulty data.
  void check_data(bool checked) { state_->status.checked = checked; }
  void submit(std::function<void()> work) { state_->backend->submit(state_->handle, std::move(work)); }

 private:
  friend class Buffer;
  friend class Event;
  friend class Graph;
  friend Graph capture(Stream&, const std::function<void()>&);
  bool captured_by_owner() const;
  struct State;
  struct Made {
    explicit Made(std::shared_ptr<State> s) : state(std::move(s)) {}
    std::shared_ptr<State> state;
  };
  Stream(const Made& made, int threads);
  struct State {
    Device device;
    Backend* backend;
    Backend::Handle handle;
    memory::Front* front;
    std::vector<Buffer>* captured = nullptr;  // buffers freed during capture live as long as the graph
    const bool borrowed;
    StreamStatus status;
    State(Device device, Backend::Handle handle, bool borrowed = false);
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State();
    void release() noexcept;
  };
  std::shared_ptr<State> state_;
  int threads_;
};

/// A point in a stream's order, with a time stamp unless created without. record() is a use of the stream, and must
/// not run while another thread uses the event.
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
  /// Time from one recorded event to another of the same device. Both must be done and timed.
  static double seconds(const Event& from, const Event& to);

 private:
  friend class Stream;
  friend class Graph;
  Backend* backend_;
  Backend::Handle handle_;
};

/// Work captured from a stream, which is replayed as a whole with the same arguments.
class Graph {
 public:
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();
  void launch(Stream& stream);

 private:
  friend Graph capture(Stream&, const std::function<void()>&);
  Graph(std::shared_ptr<Stream::State> stream, Backend::Handle handle, std::vector<Buffer> kept);
  std::shared_ptr<Stream::State> stream_;  // the captured stream; kept buffers follow its order
  Backend::Handle handle_;
  std::vector<Buffer> kept_;
  std::vector<std::shared_ptr<Stream::State>> elsewhere_;  // other streams on which the graph was launched
};

/// Runs `work` with `stream` recording instead of executing. Operators never allocate, synchronise or throw
/// after their first launch, so all of them can be captured.
Graph capture(Stream& stream, const std::function<void()>& work);
/// Number of streams of this process that are being captured.
int captures_in_progress();

/// Memory on a stream's device, from its stream-ordered pool: it is reused only by work queued after the
/// buffer was destroyed. Contents are not initialised.
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
