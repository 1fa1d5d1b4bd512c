#include "kolmo/runtime/memory/pool.hpp"

#include <sanitizer/asan_interface.h>

#include <chrono>
#include <limits>
#include <utility>

#include "kolmo/base/error.hpp"
#include "kolmo/runtime/memory/front.hpp"
#include "kolmo/runtime/memory/pool_metrics.hpp"
#include "kolmo/runtime/memory/tracker.hpp"

namespace kolmo::memory {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t chunk_step = 2 << 20;       // the driver maps memory in pages of this size
constexpr std::size_t largest_growth = 32 << 20;  // how much larger than requested a chunk may be
constexpr std::size_t front_bytes = 8 << 20;      // limit of a front's unused runs
constexpr int fits_to_try = 16;                   // spans that are tried before waiting for another stream
constexpr std::int64_t live_step = 64 << 10;
constexpr unsigned sampling = 64;
constexpr std::size_t too_much = std::numeric_limits<std::size_t>::max() / 2;

void raise_to(std::atomic<std::uint64_t>& peak, std::uint64_t value) {
  std::uint64_t old = peak.load(std::memory_order_relaxed);
  while (old < value && !peak.compare_exchange_weak(old, value, std::memory_order_relaxed)) {}
}

}  // namespace

Pool::Pool(Upstream& upstream, PoolOptions options)
    : upstream_(upstream),
      options_(std::move(options)),
      seconds_(metrics::histogram("kolmo_pool_allocation_seconds", {{"pool", options_.name}},
                                  "Time of an allocation, one in 64 sampled")),
      number_(traced_pool(options_.name)),
      keep_(options_.keep),
      limit_(options_.limit),
      order_(upstream) {
  publish_metrics_of(this, {[this] { return stats(); }, [this] { return snapshot(); }});
}

Pool::~Pool() {
  withdraw_metrics_of(this);
  try {
    trim();
  } catch (const Error&) {  // the device is lost, so there is nothing to return
  }
}

Front& Pool::enter(Upstream::Handle stream) {
  auto front = std::make_unique<Front>();
  front->stream = stream;
  const std::scoped_lock lock(fronts_mutex_, chunks_mutex_);
  fronts_.push_back(std::move(front));
  fronts_.back()->id = order_.enter(stream);
  return *fronts_.back();
}

void Pool::leave(Front& front) noexcept {
  const std::scoped_lock lock(fronts_mutex_);
  flush(front);
  {
    const std::scoped_lock chunks(chunks_mutex_);
    order_.leave(front.id);
  }
  live_bytes_ += std::uint64_t(front.uncounted);
  gone_.allocations += front.allocations;
  for (int s = 0; s < memory_sources; ++s) gone_.from[s] += front.from[s];
  std::erase_if(fronts_, [&](const auto& f) { return f.get() == &front; });
}

void Pool::note(Action action, const Front* front, const void* data, std::size_t requested,
                std::size_t granted, MemorySource source) const {
  if (!tracking.load(std::memory_order_relaxed)) return;
  TraceEvent e;
  e.action = action, e.source = source, e.pool = number_;
  e.stream = std::uint16_t(front ? front->id : 0);
  e.address = reinterpret_cast<std::uintptr_t>(data), e.requested = requested, e.granted = granted;
  record(e);
}

/// Updates the shared count in large steps only: if all threads updated it on every call, they would contend
/// for its cache line.
void Pool::change_live(Front& f, std::int64_t bytes) {
  f.uncounted += bytes;
  if (f.uncounted < live_step && f.uncounted > -live_step) return;
  const auto change = std::uint64_t(std::exchange(f.uncounted, 0));
  raise_to(peak_bytes_, live_bytes_.fetch_add(change, std::memory_order_relaxed) + change);
}

void Pool::count(Front& f, std::size_t bytes, std::size_t granted, MemorySource source) {
  f.recent[f.allocations++ % f.recent.size()] = bytes;
  ++f.from[int(source)], ++f.live;
  f.live_bytes += bytes, f.granted_bytes += granted;
  change_live(f, std::int64_t(bytes));
}

Pool::Block Pool::allocate(Front& f, std::size_t bytes) {
  thread_local unsigned calls = 0;
  if (calls++ % sampling) return take(f, bytes);
  const auto begin = Clock::now();
  const Block block = take(f, bytes);
  seconds_.record(std::chrono::duration<double>(Clock::now() - begin).count());
  return block;
}

Pool::Block Pool::take(Front& f, std::size_t bytes) {
  if (bytes > too_much)
    fail<OutOfMemory>(options_.name + ": no memory for " + std::to_string(bytes) + " bytes");
  const bool small = bytes <= largest_class;
  const std::size_t granted = small ? class_bytes(bytes) : round_up(bytes, ChunkHeap::granule);
  const int index = small ? class_index(bytes) : 0;
  std::unique_lock lock(f.mutex);
  if (f.closed || options_.direct) {
    lock.unlock();
    void* const data = upstream_.allocate(bytes, f.stream);
    lock.lock();
    f.direct_bytes += bytes;
    count(f, bytes, bytes, MemorySource::upstream);
    note(Action::allocate, &f, data, bytes, bytes, MemorySource::upstream);
    return {data, nullptr};
  }
  Run* run = small ? f.runs[std::size_t(index)] : nullptr;
  MemorySource source = MemorySource::front;
  if (run) {
    if (!run->used) f.empty_bytes -= run->span->bytes;
  } else {
    lock.unlock();
    auto made = std::make_unique<Run>(granted);
    const Acquired got = acquire(f, small ? Run::span_bytes(granted) : granted);
    run = made.release();
    run->span = got.span, source = got.source;
    lock.lock();
    if (small) f.link(run, index);
  }
  void* const data = run->take();
  if (small && run->full()) f.unlink(run, index);
  count(f, bytes, granted, source);
  note(Action::allocate, &f, data, bytes, granted, source);
  if (options_.on_host) ASAN_UNPOISON_MEMORY_REGION(data, bytes);
  return {data, run};
}

void Pool::deallocate(Front& f, Block block, std::size_t bytes) noexcept {
  Run* const run = block.run;
  const std::scoped_lock lock(f.mutex);
  const std::size_t granted = run ? run->block_bytes : bytes;
  --f.live, f.live_bytes -= bytes, f.granted_bytes -= granted;
  change_live(f, -std::int64_t(bytes));
  note(Action::free, &f, block.data, bytes, granted);
  if (!run) {
    f.direct_bytes -= bytes;
    upstream_.deallocate(block.data, bytes, f.stream);
    return;
  }
  if (options_.on_host) ASAN_POISON_MEMORY_REGION(block.data, granted);
  const bool small = granted <= largest_class;
  const int index = small ? class_index(granted) : 0;
  if (small && run->full()) f.link(run, index);
  run->give(block.data);
  if (run->used) return;
  if (small) {
    if (f.empty_bytes + run->span->bytes <= front_bytes) {
      f.empty_bytes += run->span->bytes;
      return;
    }
    f.unlink(run, index);
  }
  give(f, run->span);
  delete run;
}

void Pool::give(Front& f, Span* span) {
  const std::scoped_lock lock(chunks_mutex_);
  heap_.give(span, {order_.stamp(f.id)});
  if (heap_.free_bytes() > keep_ && !f.closed) give_back(f, keep_);
}

Pool::Acquired Pool::find(Front& f, std::size_t bytes) {
  const std::scoped_lock lock(chunks_mutex_);
  Span* span = heap_.find(bytes, fits_to_try, [&](const Span& s) { return order_.ready(f.id, s.stamps); });
  if (span) return {heap_.take(span, bytes), MemorySource::chunk};
  if (!options_.wait_for_streams) return {};
  span = heap_.find(bytes, 1, [](const Span&) { return true; });
  if (!span) return {};
  order_.wait(f.id, span->stamps);
  return {heap_.take(span, bytes), MemorySource::donated};
}

void* Pool::reserve(Upstream::Handle stream, std::size_t bytes) {
  {
    const std::scoped_lock lock(chunks_mutex_);
    if (heap_.reserved() + growing_ + bytes > limit_) return nullptr;
    growing_ += bytes;
  }
  void* data = nullptr;
  std::exception_ptr failure;
  try {
    data = upstream_.allocate(bytes, stream);
  } catch (const OutOfMemory&) {
  } catch (...) {
    failure = std::current_exception();
  }
  const std::scoped_lock lock(chunks_mutex_);
  growing_ -= bytes;
  if (failure) std::rethrow_exception(failure);
  return data;
}

Pool::Acquired Pool::grow(Front& f, std::size_t bytes) {
  std::size_t size = round_up(bytes, chunk_step);
  std::size_t generous = size;
  {
    const std::scoped_lock lock(chunks_mutex_);
    if (bytes < largest_growth / 2)
      generous = std::clamp(round_up(heap_.reserved() / 4, chunk_step), size, largest_growth);
  }
  void* data = reserve(f.stream, generous);
  if (data)
    size = generous;
  else if (size < generous)
    data = reserve(f.stream, size);
  if (!data) return {};
  const std::scoped_lock lock(chunks_mutex_);
  return {heap_.take(add(data, size, &f), bytes), MemorySource::upstream};
}

/// Adds a chunk. With a front, it is reserved for the front's stream, and other streams may use it after that
/// one; otherwise any stream may use it.
Span* Pool::add(void* data, std::size_t bytes, const Front* front) {
  Span* span = nullptr;
  try {
    span = heap_.add(data, bytes, front ? Stamps{order_.stamp(front->id)} : Stamps{});
  } catch (...) {
    upstream_.deallocate(data, bytes, front ? front->stream : nullptr);
    throw;
  }
  if (options_.on_host) ASAN_POISON_MEMORY_REGION(data, bytes);
  note(Action::reserve, front, data, bytes, bytes);
  reserved_peak_ = std::max<std::uint64_t>(reserved_peak_, heap_.reserved());
  return span;
}

Pool::Acquired Pool::acquire(Front& f, std::size_t bytes) {
  Acquired got = find(f, bytes);
  if (!got.span) got = grow(f, bytes);
  if (got.span) return got;
  ++retries_;
  note(Action::retry, &f, nullptr, bytes, bytes);
  {
    const std::scoped_lock lock(fronts_mutex_);
    for (const auto& front : fronts_) flush(*front);
  }
  {
    const std::scoped_lock lock(chunks_mutex_);
    give_back(f, 0);
  }
  upstream_.synchronize(f.stream);
  upstream_.trim();
  got = find(f, bytes);
  if (!got.span) got = grow(f, bytes);
  if (got.span) return got;
  ++failures_;
  note(Action::fail, &f, nullptr, bytes, bytes);
  fail<OutOfMemory>(options_.name + ": no memory for " + bytes_text(double(bytes)) + "; " + state());
}

/// Returns the front's cached runs to the chunks.
void Pool::flush(Front& f) {
  const std::scoped_lock lock(f.mutex);
  for (int i = 0; i < class_count; ++i)
    for (Run* run = f.runs[std::size_t(i)]; run;) {
      Run* const next = run->next;
      if (!run->used) {
        f.unlink(run, i);
        f.empty_bytes -= run->span->bytes;
        const std::scoped_lock chunks(chunks_mutex_);
        heap_.give(run->span, {order_.stamp(f.id)});
        delete run;
      }
      run = next;
    }
}

/// Releases unused chunks, in the order of the front's stream, until at most `keep` bytes are unused.
void Pool::give_back(Front& f, std::uint64_t keep) {
  const auto spans = heap_.whole_chunks();
  std::uint64_t unused = 0;
  for (const Span* s : spans) unused += s->bytes;
  for (auto at = spans.rbegin(); at != spans.rend() && unused > keep; ++at) {
    try {
      order_.wait(f.id, (*at)->stamps);
    } catch (const Error&) {
      return;  // the device is lost
    }
    unused -= (*at)->bytes;
    release(*at, f.stream);
  }
}

void Pool::release(Span* span, Upstream::Handle stream) {
  char* const data = span->data;
  const std::size_t bytes = span->bytes;
  heap_.remove(span);
  if (options_.on_host) ASAN_UNPOISON_MEMORY_REGION(data, bytes);
  note(Action::release, nullptr, data, bytes, bytes);
  upstream_.deallocate(data, bytes, stream);
}

void Pool::close(Front& f) {
  const std::scoped_lock lock(f.mutex, chunks_mutex_);
  order_.close(f.id);
  f.closed = true;
}

void Pool::open(Front& f) {
  const std::scoped_lock lock(f.mutex, chunks_mutex_);
  order_.open(f.id);
  f.closed = false;
}

void Pool::prime(std::size_t bytes) {
  const std::size_t size = round_up(bytes, chunk_step);
  void* const data = bytes > too_much ? nullptr : reserve(nullptr, size);
  if (!data)
    fail<OutOfMemory>(options_.name + ": no memory for " + bytes_text(double(bytes)) + "; " + state());
  const std::scoped_lock lock(chunks_mutex_);
  add(data, size, nullptr);
}

void Pool::trim() {
  {
    const std::scoped_lock lock(fronts_mutex_);
    for (const auto& front : fronts_) flush(*front);
  }
  {
    const std::scoped_lock lock(chunks_mutex_);
    for (Span* span : heap_.whole_chunks()) {
      order_.finish(span->stamps);
      release(span, nullptr);
    }
  }
  upstream_.trim();
}

}  // namespace kolmo::memory
