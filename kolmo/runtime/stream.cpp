#include "kolmo/runtime/stream.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/memory/pool.hpp"
#include "kolmo/runtime/monitor.hpp"

namespace kolmo {

namespace {
constinit std::atomic<int> captures{0};
}  // namespace

Stream::State::State(Device d, Backend::Handle h, bool foreign)
    : device(d), backend(&kolmo::backend(d)), handle(h), borrowed(foreign), status(*backend, handle) {
  try {
    front = &backend->pool().enter(handle);
  } catch (...) {
    release();
    throw;
  }
}
Stream::State::~State() {
  status.release();
  backend->pool().leave(*front);
  release();
}
void Stream::State::release() noexcept {
  borrowed ? backend->return_stream(handle) : backend->destroy_stream(handle);
}

Stream::Stream(const Made& made, int threads) : state_(made.state), threads_(threads) {
  require(threads >= 0, "stream: threads must not be negative");
  if (threads == 0) threads_ = hardware_threads();
}

Stream::Stream(Device device, int threads)
    : Stream(Made{std::make_shared<State>(device, backend(device).make_stream())}, threads) {}

Stream Stream::background(Device device) {
  return {Made{std::make_shared<State>(device, backend(device).make_background_stream())}, 0};
}

Stream Stream::borrow(Device device, void* native_handle, int threads) {
  Backend& owner = backend(device);
  const auto make = [&] { return std::make_shared<State>(device, owner.borrow_stream(native_handle), true); };
  if (in_host_memory(device)) return {Made{make()}, threads};
  static std::mutex mutex;
  static auto& known = *new std::map<std::pair<Backend*, void*>, std::weak_ptr<State>>;  // never destroyed
  const std::scoped_lock lock(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  auto& slot = known[{&owner, native_handle}];
  std::shared_ptr<State> state = slot.lock();
  if (!state) slot = state = make();
  return {Made{std::move(state)}, threads};
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
  state_->status.check();
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

Graph::Graph(std::shared_ptr<Stream::State> stream, Backend::Handle handle, std::vector<Buffer> kept)
    : stream_(std::move(stream)), handle_(handle), kept_(std::move(kept)) {}
Graph::Graph(Graph&& other) noexcept
    : stream_(std::move(other.stream_)),
      handle_(std::exchange(other.handle_, nullptr)),
      kept_(std::move(other.kept_)),
      elsewhere_(std::move(other.elsewhere_)) {}
Graph& Graph::operator=(Graph&& other) noexcept {
  std::swap(stream_, other.stream_);
  std::swap(handle_, other.handle_);
  std::swap(kept_, other.kept_);
  std::swap(elsewhere_, other.elsewhere_);
  return *this;
}
Graph::~Graph() {
  if (!handle_) return;
  try {  // replays on other streams may still be using the kept buffers
    for (const auto& other : elsewhere_) {
      const Event launched(other->device, false);
      other->backend->record(launched.handle_, other->handle);
      if (stream_->captured)
        launched.backend_->synchronize_event(launched.handle_);
      else
        other->backend->wait(stream_->handle, launched.handle_);
    }
  } catch (const Error&) {  // the device is lost: nothing runs any more
  }
  stream_->backend->destroy_graph(handle_);
}
void Graph::launch(Stream& stream) {
  stream_->status.replayed();
  if (!kept_.empty() && stream.state_ != stream_ &&
      std::find(elsewhere_.begin(), elsewhere_.end(), stream.state_) == elsewhere_.end())
    elsewhere_.push_back(stream.state_);
  if (in_host_memory(stream.device())) return stream_->backend->launch_graph(handle_, stream.state_->handle);
  const monitor::Scope scope("graph", stream, [] { return monitor::Work{}; });
  stream_->backend->launch_graph(handle_, stream.state_->handle);
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
  memory::Pool& pool = state.backend->pool();
  if (state.device.kind == DeviceKind::cuda) state.status.prepare();  // no allocation during capture
  pool.close(*state.front);
  Backend::Handle graph = nullptr;
  try {
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
    graph = state.backend->end_capture(state.handle);
  } catch (...) {
    pool.open(*state.front);
    throw;
  }
  pool.open(*state.front);
  return Graph(stream.state_, graph, std::move(kept));
}

bool Stream::captured_by_owner() const {
  return state_->borrowed && !capturing() && state_->backend->captured_by_owner(state_->handle);
}

Buffer::Buffer(std::size_t bytes, Stream& stream) : bytes_(bytes), stream_(stream.state_) {
  if (!bytes) return;
  if (stream.captured_by_owner())
    fail<Unsupported>(to_string(stream_->device) +
                      ": a borrowed stream takes no memory while its owner captures it; capture it with "
                      "kolmo::capture, or give memory that is already there");
  const memory::Pool::Block block = stream_->backend->pool().allocate(*stream_->front, bytes);
  data_ = block.data, run_ = block.run;
}
Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      run_(std::exchange(other.run_, nullptr)),
      stream_(std::move(other.stream_)) {}
Buffer& Buffer::operator=(Buffer other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(run_, other.run_);
  std::swap(stream_, other.stream_);
  return *this;
}
Buffer::~Buffer() {
  if (!data_) return;
  if (stream_->captured) {  // a replay will use the buffer again
    stream_->captured->push_back(std::move(*this));
    return;
  }
  stream_->backend->pool().deallocate(*stream_->front, {data_, run_}, bytes_);
}

PoolStats pool_stats(Device device) { return backend(device).pool().stats(); }
void pool_trim(Device device) { backend(device).pool().trim(); }

}  // namespace kolmo
