#include "tests/sim/simulated_device.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace kolmo {
namespace {

using Recorded = std::vector<std::function<void(Backend::Handle stream)>>;

struct SimulatedStream {
  double ready = 0;  // end of all its work
  std::unique_ptr<Recorded> capture;
};
struct SimulatedEvent {
  double time = 0;
};

SimulatedStream& stream_of(Backend::Handle s) { return *static_cast<SimulatedStream*>(s); }
SimulatedEvent& event_of(Backend::Handle e) { return *static_cast<SimulatedEvent*>(e); }

}  // namespace

SimulatedDevice& SimulatedDevice::make(const SimulatedSpeed& speed) {
  static std::atomic<int> count = 1;
  const Device device{DeviceKind::cpu, count++};
  std::unique_ptr<SimulatedDevice> made(new SimulatedDevice(device, speed));
  SimulatedDevice& simulated = *made;
  add_backend(device, std::move(made));
  return simulated;
}

double SimulatedDevice::now() {
  const Lock lock(mutex_);
  return now_;
}

void SimulatedDevice::advance_to(double time) {
  const Lock lock(mutex_);
  while (!pending_.empty() && pending_.begin()->first.first <= time) {
    const auto next = pending_.extract(pending_.begin());
    now_ = std::max(now_, next.key().first);
    try {
      if (next.mapped().run && (lost_.empty() || next.mapped().even_if_lost)) next.mapped().run();
    } catch (const std::exception& e) {
      lost_ = e.what();
    }
  }
  now_ = std::max(now_, time);
}

double SimulatedDevice::next_end() {
  const Lock lock(mutex_);
  return pending_.empty() ? std::numeric_limits<double>::infinity() : pending_.begin()->first.first;
}

void SimulatedDevice::kernel(Stream& stream, double seconds, std::function<void()> work) {
  queue(stream.native(), compute, seconds, std::move(work));
}

void SimulatedDevice::fail_allocation(std::uint64_t n) {
  const Lock lock(mutex_);
  failing_allocation_ = allocated_ + n;
}
void SimulatedDevice::fail_work(std::uint64_t n) {
  const Lock lock(mutex_);
  failing_work_ = queued_ + n;
}
std::uint64_t SimulatedDevice::live_bytes() {
  const Lock lock(mutex_);
  return live_bytes_;
}

/// Queues work, and returns the time at which it will end.
double SimulatedDevice::queue(Handle s, Engine engine, double seconds, std::function<void()> work) {
  const Lock lock(mutex_);
  SimulatedStream& stream = stream_of(s);
  if (stream.capture) {
    stream.capture->push_back([=, this](Handle replay) { queue(replay, engine, seconds, work); });
    return now_;
  }
  check();
  stream.ready = std::max({now_, stream.ready, engine_ready_[engine]}) + seconds;
  engine_ready_[engine] = stream.ready;
  if (++queued_ == failing_work_) work = [this] { lost_ = "it failed as it was told to"; };
  pending_[{stream.ready, ++order_}] = {std::move(work)};
  return stream.ready;
}

void SimulatedDevice::check() const {
  if (!lost_.empty()) fail<DeviceError>(to_string(device_) + " was lost: " + lost_);
}

bool SimulatedDevice::holds(const Blocks& blocks, const void* data) {
  const auto after = blocks.upper_bound(data);
  if (after == blocks.begin()) return false;
  const auto& [begin, bytes] = *std::prev(after);
  return static_cast<const char*>(data) < static_cast<const char*>(begin) + bytes;
}

DeviceInfo SimulatedDevice::info() const {
  DeviceInfo i;
  i.device = device_;
  i.name = "simulated device";
  i.processors = 1;
  i.memory = speed_.memory;
  i.bytes_per_second = speed_.local;
  return i;
}

void* SimulatedDevice::allocate(std::size_t bytes, Handle) {
  const Lock lock(mutex_);
  check();
  if (++allocated_ == failing_allocation_ || bytes > speed_.memory - live_bytes_)
    fail<OutOfMemory>(to_string(device_) + ": no memory for " + std::to_string(bytes) + " bytes; " +
                      std::to_string(speed_.memory - live_bytes_) + " of " + std::to_string(speed_.memory) +
                      " are free");
  void* data = Backend::allocate_host(bytes);
  blocks_[data] = bytes;
  live_bytes_ += bytes;
  return data;
}

// The memory stays usable until the end of the stream's pending work, which may use it.
void SimulatedDevice::deallocate(void* data, std::size_t bytes, Handle s) noexcept {
  const Lock lock(mutex_);
  const auto give_back = [this, data, bytes] {
    blocks_.erase(data);
    live_bytes_ -= bytes;
    std::free(data);
  };
  const double ready = stream_of(s).ready;
  if (ready <= now_)
    give_back();
  else
    pending_[{ready, ++order_}] = {give_back, true};
}

void* SimulatedDevice::allocate_host(std::size_t bytes) {
  const Lock lock(mutex_);
  void* data = Backend::allocate_host(bytes);
  host_blocks_[data] = bytes;
  return data;
}
void SimulatedDevice::deallocate_host(void* data, std::size_t bytes) noexcept {
  const Lock lock(mutex_);
  host_blocks_.erase(data);
  Backend::deallocate_host(data, bytes);
}

Backend::Handle SimulatedDevice::make_stream() {
  const Lock lock(mutex_);
  check();
  return new SimulatedStream;
}
void SimulatedDevice::destroy_stream(Handle s) noexcept { delete &stream_of(s); }
bool SimulatedDevice::captured_by_owner(Handle s) {
  const Lock lock(mutex_);
  return stream_of(s).capture != nullptr;
}
void SimulatedDevice::synchronize(Handle s) {
  const Lock lock(mutex_);
  advance_to(stream_of(s).ready);
  check();
}
void SimulatedDevice::submit(Handle s, std::function<void()> work) {
  queue(s, compute, speed_.kernel, std::move(work));
}

void SimulatedDevice::copy(void* to, const void* from, std::size_t bytes, Handle s) {
  const Lock lock(mutex_);
  const bool from_device = holds(blocks_, from), to_device = holds(blocks_, to);
  const Engine engine = from_device == to_device ? compute : from_device ? download : upload;
  const double rates[] = {speed_.upload, speed_.local, speed_.download};
  const double end = queue(s, engine, double(bytes) / rates[engine], [=] { std::memcpy(to, from, bytes); });
  const bool blocks = !(from_device || holds(host_blocks_, from)) || !(to_device || holds(host_blocks_, to));
  if (blocks) advance_to(end);
}
void SimulatedDevice::fill(void* to, int byte, std::size_t bytes, Handle s) {
  queue(s, compute, double(bytes) / speed_.local, [=] { std::memset(to, byte, bytes); });
}

Backend::Handle SimulatedDevice::make_event(bool) {
  const Lock lock(mutex_);
  check();
  return new SimulatedEvent;
}
void SimulatedDevice::destroy_event(Handle e) noexcept { delete &event_of(e); }

void SimulatedDevice::record(Handle e, Handle s) {
  const Lock lock(mutex_);
  SimulatedStream& stream = stream_of(s);
  if (stream.capture) return stream.capture->push_back([e, this](Handle replay) { record(e, replay); });
  check();
  event_of(e).time = std::max(now_, stream.ready);
}
void SimulatedDevice::wait(Handle s, Handle e) {
  const Lock lock(mutex_);
  SimulatedStream& stream = stream_of(s);
  if (stream.capture) return stream.capture->push_back([e, this](Handle replay) { wait(replay, e); });
  check();
  stream.ready = std::max(stream.ready, event_of(e).time);
}
void SimulatedDevice::synchronize_event(Handle e) {
  const Lock lock(mutex_);
  advance_to(event_of(e).time);
  check();
}
bool SimulatedDevice::done(Handle e) {
  const Lock lock(mutex_);
  check();
  return event_of(e).time <= now_;
}
double SimulatedDevice::seconds(Handle from, Handle to) {
  const Lock lock(mutex_);
  return event_of(to).time - event_of(from).time + speed_.event;
}

void SimulatedDevice::begin_capture(Handle s) {
  const Lock lock(mutex_);
  check();
  stream_of(s).capture = std::make_unique<Recorded>();
}
Backend::Handle SimulatedDevice::end_capture(Handle s) { return stream_of(s).capture.release(); }
void SimulatedDevice::abandon_capture(Handle s) noexcept { stream_of(s).capture.reset(); }
void SimulatedDevice::launch_graph(Handle g, Handle s) {
  const Lock lock(mutex_);
  for (const auto& step : *static_cast<Recorded*>(g)) step(s);
}
void SimulatedDevice::destroy_graph(Handle g) noexcept { delete static_cast<Recorded*>(g); }

}  // namespace kolmo
