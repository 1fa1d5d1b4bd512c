#pragma once
// A simulated address space with streams, and a shadow that checks the blocks a pool returns.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kolmo/base/error.hpp"
#include "kolmo/runtime/memory/upstream.hpp"

namespace kolmo::memory {

/// Addresses without memory behind them. Work on a stream is a number that counts up; it finishes when
/// advance() is called, explicitly or because something waits for it.
class SimulatedUpstream final : public Upstream {
 public:
  struct SimStream {
    std::uint64_t queued = 0, finished = 0;
    std::map<const SimStream*, std::uint64_t> after;  // work of other streams that later work here waits for
  };
  struct SimEvent {
    SimStream* stream = nullptr;
    std::uint64_t work = 0;
    std::map<const SimStream*, std::uint64_t> after;
  };

  std::uint64_t capacity = 1ull << 40;
  long fail_at = -1;  // the n-th allocation from now fails
  long calls = 0, trims = 0, waits = 0, records = 0;

  SimStream* make_stream() {
    const std::scoped_lock lock(mutex);
    return streams_.emplace_back(std::make_unique<SimStream>()).get();
  }
  /// Queues work; returns its number.
  std::uint64_t queue(SimStream* s) {
    const std::scoped_lock lock(mutex);
    return ++s->queued;
  }
  void advance(SimStream* s) {
    const std::scoped_lock lock(mutex);
    s->finished = s->queued;
  }
  /// Whether work `number` of `first` comes before work queued on `then` from now on.
  bool ordered(const SimStream* first, std::uint64_t number, const SimStream* then) {
    const std::scoped_lock lock(mutex);
    if (first == then || first->finished >= number) return true;
    const auto at = then->after.find(first);
    return at != then->after.end() && at->second >= number;
  }

  void* allocate(std::size_t bytes, Handle) override {
    const std::scoped_lock lock(mutex);
    ++calls;
    if (fail_at >= 0 && fail_at-- == 0) fail<OutOfMemory>("sim: made to fail");
    if (reserved_ + bytes > capacity) fail<OutOfMemory>("sim: full");
    reserved_ += bytes;
    void* const data = reinterpret_cast<void*>(next_);
    next_ += (bytes + 0xffff) / 0x10000 * 0x10000 + 0x10000;
    blocks_[data] = bytes;
    return data;
  }
  void deallocate(void* data, std::size_t bytes, Handle) noexcept override {
    const std::scoped_lock lock(mutex);
    const auto at = blocks_.find(data);
    if (at == blocks_.end() || at->second != bytes) std::terminate();
    blocks_.erase(at);
    reserved_ -= bytes;
  }
  void trim() override {
    const std::scoped_lock lock(mutex);
    ++trims;
  }
  void synchronize(Handle s) override {
    const std::scoped_lock lock(mutex);
    finish(stream(s), stream(s)->queued);
  }
  Handle make_event(bool) override { return new SimEvent; }
  void destroy_event(Handle e) noexcept override { delete event(e); }
  void record(Handle e, Handle s) override {
    const std::scoped_lock lock(mutex);
    ++records;
    *event(e) = {stream(s), stream(s)->queued, stream(s)->after};
  }
  void wait(Handle s, Handle e) override {
    const std::scoped_lock lock(mutex);
    ++waits;
    const auto raise = [&](const SimStream* other, std::uint64_t work) {
      auto& after = stream(s)->after[other];
      after = std::max(after, work);
    };
    if (event(e)->stream) raise(event(e)->stream, event(e)->work);
    for (const auto& [other, work] : event(e)->after) raise(other, work);
  }
  bool done(Handle e) override {
    const std::scoped_lock lock(mutex);
    return !event(e)->stream || event(e)->stream->finished >= event(e)->work;
  }
  void synchronize_event(Handle e) override {
    const std::scoped_lock lock(mutex);
    if (event(e)->stream) finish(event(e)->stream, event(e)->work);
  }

  std::uint64_t reserved() {
    const std::scoped_lock lock(mutex);
    return reserved_;
  }
  std::size_t blocks() {
    const std::scoped_lock lock(mutex);
    return blocks_.size();
  }

 private:
  static SimStream* stream(Handle s) { return static_cast<SimStream*>(s); }
  static SimEvent* event(Handle e) { return static_cast<SimEvent*>(e); }
  static void finish(SimStream* s, std::uint64_t work) {
    s->finished = std::max(s->finished, work);
    for (const auto& [other, number] : s->after) {
      auto& finished = const_cast<SimStream*>(other)->finished;
      finished = std::max(finished, number);
    }
  }

  std::mutex mutex;
  std::vector<std::unique_ptr<SimStream>> streams_;
  std::map<void*, std::size_t> blocks_;
  std::uintptr_t next_ = 0x10000000;
  std::uint64_t reserved_ = 0;
};

/// Every live block by address, and the last user of each address.
class Shadow {
 public:
  using SimStream = SimulatedUpstream::SimStream;
  explicit Shadow(SimulatedUpstream& upstream) : upstream_(upstream) {}

  /// Returns an empty text, or why this block must not be returned.
  std::string allocated(const void* data, std::size_t bytes, const SimStream* stream) {
    const auto begin = reinterpret_cast<std::uintptr_t>(data), end = begin + bytes;
    if (begin % 256) return "a block is not aligned";
    const std::scoped_lock lock(mutex_);
    const auto next = live_.lower_bound(begin);
    if (next != live_.end() && next->first < end) return "a block overlaps the next live one";
    if (next != live_.begin() && std::prev(next)->second > begin)
      return "a block overlaps the live one before";
    std::string fault;
    auto at = freed_.lower_bound(begin);
    if (at != freed_.begin() && std::prev(at)->second.end > begin) --at;
    while (at != freed_.end() && at->first < end) {
      const Freed f = at->second;
      if (!upstream_.ordered(f.stream, f.work, stream))
        fault = "a block is reused before the work that used it";
      const auto from = at->first;
      at = freed_.erase(at);
      if (from < begin) freed_.emplace(from, Freed{begin, f.stream, f.work});
      if (f.end > end) at = freed_.emplace(end, f).first;
    }
    live_.emplace(begin, end);
    return fault;
  }
  void freed(const void* data, std::size_t bytes, const SimStream* stream, std::uint64_t work) {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    const std::scoped_lock lock(mutex_);
    live_.erase(begin);
    freed_.insert_or_assign(begin, Freed{begin + bytes, stream, work});
  }

 private:
  struct Freed {
    std::uintptr_t end;
    const SimStream* stream;
    std::uint64_t work;
  };
  SimulatedUpstream& upstream_;
  std::mutex mutex_;
  std::map<std::uintptr_t, std::uintptr_t> live_;
  std::map<std::uintptr_t, Freed> freed_;
};

}  // namespace kolmo::memory
