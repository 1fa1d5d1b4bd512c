#include "kolmo/runtime/stream.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/monitor.hpp"

namespace kolmo {
namespace {
std::mutex pool_mutex;
std::map<std::pair<DeviceKind, int>, PoolStats> pool_counters;

PoolStats& counters(Device d) { return pool_counters[{d.kind, d.index}]; }
constinit std::atomic<int> captures{0};
}  // namespace

Stream::Stream(Device device, int threads) {
  require(threads >= 0, "stream: threads must not be negative");
  Backend& b = backend(device);
  threads_ = threads ? threads : hardware_threads();
  state_.reset(new State{device, &b, b.make_stream()});
}

Stream Stream::background(Device device) {
  Stream s(device);
  Backend& b = *s.state_->backend;
  s.state_.reset(new State{device, &b, b.make_background_stream()});
  return s;
}

Stream Stream::with_threads(int threads) const {
  require(threads > 0, "stream: threads must be positive");
  Stream s = *this;
  s.threads_ = threads;
  return s;
}

void Stream::synchronize() {
  require(!capturing(), "stream: cannot be synchronised while it is captured");
  state_->backend->synchronize(state_->handle);
}

void Stream::wait(const Event& event) { state_->backend->wait(state_->handle, event.handle_); }

void Stream::copy(const Tensor& to, const Tensor& from) {
  if (to.dtype != from.dtype || to.size() != from.size() || !to.contiguous() || !from.contiguous())
    fail<InvalidArgument>("copy: cannot copy " + shape_string(from) + " to " + shape_string(to) +
                          "; both must be contiguous, of one dtype and size");
  if (from.size()) state_->backend->copy(to.data, from.data, from.bytes(), state_->handle);
}

void Stream::fill(const Tensor& to, int byte) {
  require(to.contiguous(), "fill: the tensor must be contiguous");
  if (to.size()) state_->backend->fill(to.data, byte, to.bytes(), state_->handle);
}

Event& Event::operator=(Event other) noexcept {
  std::swap(backend_, other.backend_);
  std::swap(handle_, other.handle_);
  return *this;
}
Event::~Event() {
  if (handle_) backend_->destroy_event(handle_);
}
void Event::record(Stream& stream) { backend_->record(handle_, stream.state_->handle); }
double Event::seconds(const Event& from, const Event& to) {
  return from.backend_->seconds(from.handle_, to.handle_);
}

Graph::Graph(Backend* backend, Backend::Handle handle, std::vector<Buffer> kept)
    : backend_(backend), handle_(handle), kept_(std::move(kept)) {}
Graph::Graph(Graph&& other) noexcept
    : backend_(other.backend_),
      handle_(std::exchange(other.handle_, nullptr)),
      kept_(std::move(other.kept_)) {}
Graph& Graph::operator=(Graph&& other) noexcept {
  std::swap(backend_, other.backend_);
  std::swap(handle_, other.handle_);
  std::swap(kept_, other.kept_);
  return *this;
}
Graph::~Graph() {
  if (handle_) backend_->destroy_graph(handle_);
}
void Graph::launch(Stream& stream) {
  if (in_host_memory(stream.device())) return backend_->launch_graph(handle_, stream.state_->handle);
  const monitor::Scope scope("graph", stream, [] { return monitor::Work{}; });
  backend_->launch_graph(handle_, stream.state_->handle);
}

int captures_in_progress() { return captures.load(std::memory_order_relaxed); }

Graph capture(Stream& stream, const std::function<void()>& work) {
  require(!stream.capturing(), "capture: the stream is already being captured");
  auto& state = *stream.state_;
  struct Counted {
    Counted() { captures.fetch_add(1, std::memory_order_relaxed); }
    ~Counted() { captures.fetch_sub(1, std::memory_order_relaxed); }
  } const counted;
  std::vector<Buffer> kept;
  state.backend->begin_capture(state.handle);
  state.captured = &kept;
  try {
    work();
  } catch (...) {
    state.captured = nullptr;
    state.backend->abandon_capture(state.handle);
    throw;
  }
  state.captured = nullptr;
  const Backend::Handle graph = state.backend->end_capture(state.handle);
  return Graph(state.backend, graph, std::move(kept));
}

Buffer::Buffer(std::size_t bytes, Stream& stream) : bytes_(bytes), stream_(stream.state_) {
  if (!bytes) return;
  data_ = stream_->backend->allocate(bytes, stream_->handle);
  const std::scoped_lock lock(pool_mutex);
  PoolStats& c = counters(stream_->device);
  ++c.allocations, ++c.live, c.live_bytes += bytes;
  c.peak_bytes = std::max(c.peak_bytes, c.live_bytes);
}
Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      stream_(std::move(other.stream_)) {}
Buffer& Buffer::operator=(Buffer other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(stream_, other.stream_);
  return *this;
}
Buffer::~Buffer() {
  if (!data_) return;
  if (stream_->captured) {  // a replay will use it again
    stream_->captured->push_back(std::move(*this));
    return;
  }
  stream_->backend->deallocate(data_, bytes_, stream_->handle);
  const std::scoped_lock lock(pool_mutex);
  PoolStats& c = counters(stream_->device);
  --c.live, c.live_bytes -= bytes_;
}

PoolStats pool_stats(Device device) {
  const std::scoped_lock lock(pool_mutex);
  return counters(device);
}
void pool_trim(Device device) { backend(device).trim(); }

}  // namespace kolmo
