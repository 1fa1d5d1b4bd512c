#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "kolmo/runtime/memory/arena.hpp"
#include "kolmo/runtime/memory/trace.hpp"
#include "kolmo/runtime/metrics.hpp"

namespace kolmo::memory {

struct Front;
struct Run;

struct PoolOptions {
  std::string name;             ///< in metrics, traces and messages
  std::uint64_t keep = ~0ull;   ///< bytes of unused chunks above which the next one goes back to the upstream
  std::uint64_t limit = ~0ull;  ///< reserve no more than this
  bool wait_for_streams = true;  ///< false: memory another stream may still be using is never taken
  bool direct = false;           ///< keep nothing: every block is the upstream's own
  bool on_host = false;          ///< host memory: AddressSanitizer sees what is free
};

/// A device's memory for buffers: segregated fit up to 1 MiB in a front of every stream, best fit above, both
/// from chunks of at least 2 MiB. Memory freed on a stream is reused on it at once, and on another one behind
/// an event. Where the upstream has no more, fronts and unused chunks are given back, the stream is
/// synchronised, the upstream trimmed, and it is asked once more; then OutOfMemory says what the pool holds.
/// Blocks are aligned to 256 bytes. Any thread may call; a stream's blocks are freed on the same stream.
class Pool {
 public:
  Pool(Upstream& upstream, PoolOptions options);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  struct Block {
    void* data = nullptr;
    Run* run = nullptr;  ///< null: straight from the upstream
  };
  Front& enter(Upstream::Handle stream);
  /// All blocks of the stream are free, and it is about to be destroyed.
  void leave(Front& front) noexcept;
  Block allocate(Front& front, std::size_t bytes);
  void deallocate(Front& front, Block block, std::size_t bytes) noexcept;

  /// Between the two, the stream is being captured: its allocations pass the pool by.
  void close(Front& front);
  void open(Front& front);

  /// Takes a chunk of this size from the upstream ahead of need.
  void prime(std::size_t bytes);
  /// Gives every unused chunk back to the upstream, and has that trimmed.
  void trim();
  PoolStats stats() const;
  /// Statistics, and every chunk with its blocks.
  TracePool snapshot() const;
  const std::string& name() const { return options_.name; }
  void set_keep(std::uint64_t bytes) { keep_ = bytes; }
  void set_limit(std::uint64_t bytes) { limit_ = bytes; }

 private:
  struct Acquired {
    Span* span;
    MemorySource source;
  };
  Block take(Front& front, std::size_t bytes);
  Acquired acquire(Front& front, std::size_t bytes);
  Acquired find(Front& front, std::size_t bytes);
  Acquired grow(Front& front, std::size_t bytes);
  void* reserve(Upstream::Handle stream, std::size_t bytes);
  Span* add(void* data, std::size_t bytes, const Front* front);
  void give(Front& front, Span* span);
  void flush(Front& front);
  void give_back(Front& front, std::uint64_t keep);
  void release(Span* span, Upstream::Handle stream);
  void note(Action action, const Front* front, const void* data, std::size_t requested, std::size_t granted,
            MemorySource source = {}) const;
  void change_live(Front& front, std::int64_t bytes);
  void count(Front& front, std::size_t bytes, std::size_t granted, MemorySource source);
  std::string state() const;

  Upstream& upstream_;
  const PoolOptions options_;
  metrics::Histogram& seconds_;
  const std::uint8_t number_;  // in traces
  std::atomic<std::uint64_t> keep_, limit_;
  std::atomic<std::uint64_t> retries_{0}, failures_{0};
  alignas(64) std::atomic<std::uint64_t> live_bytes_{0};  // apart from what every call reads
  std::atomic<std::uint64_t> peak_bytes_{0};

  // Locked in this order: the list of fronts, one front, the chunks.
  alignas(64) mutable std::mutex fronts_mutex_;
  std::vector<std::unique_ptr<Front>> fronts_;
  PoolStats gone_;  // counters of fronts that left
  mutable std::mutex chunks_mutex_;
  Arena arena_;
  Order order_;
  std::uint64_t growing_ = 0, reserved_peak_ = 0;
};

}  // namespace kolmo::memory
