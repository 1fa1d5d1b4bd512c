#include "kolmo/runtime/memory/pinned.hpp"

#include <unistd.h>

#include <cstdlib>
#include <map>

#include "kolmo/runtime/memory/pool_metrics.hpp"
#include "kolmo/runtime/memory/size_class.hpp"
#include "kolmo/runtime/memory/tracker.hpp"

namespace kolmo::memory {
namespace {

constexpr std::size_t host_page = 2 << 20;  // slabs consist of huge pages if available
constexpr std::size_t smallest_slab = 8 << 20;

std::uint64_t default_cap() {  // a twentieth of the physical memory
  return std::uint64_t(sysconf(_SC_PHYS_PAGES)) * std::uint64_t(sysconf(_SC_PAGESIZE)) / 20;
}

}  // namespace

PinnedPool::PinnedPool(Backend& backend, std::string name, std::uint64_t cap)
    : backend_(backend), name_(std::move(name)), number_(traced_pool(name_)), cap_(cap) {
  counts_.name = name_;
  publish_metrics_of(this, {[this] { return stats(); }, [this] { return snapshot(); }});
}

PinnedPool::~PinnedPool() {
  withdraw_metrics_of(this);
  try {
    trim();
  } catch (const Error&) {  // a lost device has no work to wait for
  }
  for (const Backend::Handle e : events_) backend_.destroy_event(e);
}

void PinnedPool::note(Action action, const void* data, std::size_t requested, std::size_t granted,
                      MemorySource source) const {
  if (!tracking.load(std::memory_order_relaxed)) return;
  TraceEvent e;
  e.action = action, e.source = source, e.pool = number_;
  e.address = reinterpret_cast<std::uintptr_t>(data), e.requested = requested, e.granted = granted;
  record(e);
}

/// Reclaims blocks that no copy uses any more.
void PinnedPool::collect() {
  std::erase_if(waiting_, [&](const Waiting& w) {
    if (!w.event || !backend_.done(w.event)) return false;
    heap_.give(w.span, {});
    events_.push_back(w.event);
    return true;
  });
}

PinnedPool::Block PinnedPool::allocate(std::size_t bytes) {
  if (bytes > ~std::size_t(0) / 2)
    fail<OutOfMemory>(name_ + ": no host memory for " + std::to_string(bytes) + " bytes");
  const std::size_t granted = round_up(class_bytes(bytes), ChunkHeap::granule);
  const std::size_t slab = round_up(std::max(granted, smallest_slab), host_page);
  const std::scoped_lock lock(mutex_);
  collect();
  MemorySource source = MemorySource::chunk;
  Span* span = heap_.find(granted, 1, [](const Span&) { return true; });
  if (!span && heap_.reserved() + slab <= cap_) {
    source = MemorySource::upstream;
    try {
      void* const data = backend_.allocate_host(slab);
      try {
        span = heap_.add(data, slab, {});
      } catch (...) {
        backend_.deallocate_host(data, slab);
        throw;
      }
      note(Action::reserve, data, slab, slab, source);
      counts_.reserved_peak = std::max<std::uint64_t>(counts_.reserved_peak, heap_.reserved());
    } catch (const OutOfMemory&) {
      ++counts_.retries;
    }
  }
  Block block;
  if (span) {
    block = {span->data, heap_.take(span, granted)};
  } else {
    source = MemorySource::upstream;
    block.data = std::aligned_alloc(alignment, round_up(bytes, alignment));
    if (!block.data) {
      ++counts_.failures;
      fail<OutOfMemory>(name_ + ": no host memory for " + bytes_text(double(bytes)) + "; " +
                        bytes_text(double(counts_.live_bytes)) + " live, " +
                        bytes_text(double(heap_.reserved())) + " page-locked, cap " +
                        bytes_text(double(cap_)));
    }
    ++pageable_;
  }
  ++counts_.allocations, ++counts_.live, ++counts_.from[int(source)];
  counts_.live_bytes += bytes, counts_.granted_bytes += span ? granted : 0;
  counts_.peak_bytes = std::max(counts_.peak_bytes, counts_.live_bytes);
  note(Action::allocate, block.data, bytes, span ? granted : bytes, source);
  return block;
}

void PinnedPool::deallocate(Block block, std::size_t bytes, const Stream& stream) noexcept {
  const std::scoped_lock lock(mutex_);
  --counts_.live, counts_.live_bytes -= bytes;
  note(Action::free, block.data, bytes, block.span ? block.span->bytes : bytes, {});
  Backend::Handle event = nullptr;  // if it stays null, the block is never reused
  try {
    if (!stream.capturing()) {  // replays of a captured graph may use the block at any time
      if (events_.empty())
        event = backend_.make_event(false);
      else
        event = events_.back(), events_.pop_back();
      backend_.record(event, stream.native());
      if (!block.span) backend_.synchronize_event(event);
    }
  } catch (const Error&) {  // the device is lost
  }
  if (block.span) {
    counts_.granted_bytes -= block.span->bytes;
    waiting_.push_back({block.span, event});
    return;
  }
  if (!event) return;
  events_.push_back(event);
  std::free(block.data);
}

void PinnedPool::trim() {
  const std::scoped_lock lock(mutex_);
  for (const Waiting& w : waiting_)
    if (w.event) backend_.synchronize_event(w.event);
  collect();
  for (Span* span : heap_.whole_chunks()) {
    char* const data = span->data;
    const std::size_t bytes = span->bytes;
    heap_.remove(span);
    note(Action::release, data, bytes, bytes, {});
    backend_.deallocate_host(data, bytes);
  }
}

PoolStats PinnedPool::stats() const {
  const std::scoped_lock lock(mutex_);
  PoolStats s = counts_;
  s.reserved_bytes = heap_.reserved(), s.chunks = heap_.chunks().size(), s.limit_bytes = cap_;
  s.largest_free = heap_.largest_free();
  return s;
}

TracePool PinnedPool::snapshot() const {
  TracePool all{stats(), {}};
  const std::scoped_lock lock(mutex_);
  const auto number = [](const void* p) { return std::uint64_t(reinterpret_cast<std::uintptr_t>(p)); };
  for (const Chunk* c : heap_.chunks()) {
    TraceChunk chunk{number(c->data), c->bytes, {}};
    for (const Span* s = c->first; s; s = s->next)
      chunk.blocks.push_back({number(s->data), s->bytes, !s->free});
    all.chunks.push_back(std::move(chunk));
  }
  return all;
}

std::uint64_t PinnedPool::pageable() const {
  const std::scoped_lock lock(mutex_);
  return pageable_;
}
void PinnedPool::set_cap(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  cap_ = bytes;
}

PinnedPool& pinned_pool(Device device) {
  static std::mutex mutex;
  static auto& pools =
      *new std::map<std::pair<DeviceKind, int>, std::unique_ptr<PinnedPool>>;  // never destroyed
  const std::scoped_lock lock(mutex);
  auto& pool = pools[{device.kind, device.index}];
  if (!pool)
    pool = std::make_unique<PinnedPool>(backend(device), "pinned " + to_string(device), default_cap());
  return *pool;
}

}  // namespace kolmo::memory
