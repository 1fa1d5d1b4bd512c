#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "kolmo/runtime/memory/chunk_heap.hpp"
#include "kolmo/runtime/memory/trace.hpp"
#include "kolmo/runtime/metrics.hpp"

namespace kolmo::memory {

struct Front;
struct Run;

struct PoolOptions {
  std::string name;              ///< in metrics, traces and messages
  std::uint64_t keep = ~0ull;    ///< bytes of unused chunks that are kept; more are released to the upstream
  std::uint64_t limit = ~0ull;   ///< maximum of reserved bytes
  bool wait_for_streams = true;  ///< false: never takes memory that another stream may still be using
  bool direct = false;           ///< no caching: every block is allocated from the upstream
  bool on_host = false;          ///< for host memory: AddressSanitizer is told what is free
};

/// A device's memory for buffers. Blocks of up to 1 MiB come from the stream's own front, which keeps runs of
/// equal blocks for each size class (segregated fit); larger blocks are cut from chunks by best fit. Both
/// take chunks of at least 2 MiB. Memory freed on a stream is reused on it at once, and on another stream
/// after an event. If the upstream is out of memory, fronts and unused chunks are released, the stream is
/// synchronised, the upstream trimmed, and the allocation tried once more; then OutOfMemory reports the
/// pool's contents. Blocks are aligned to 256 bytes. Thread-safe. A block must be freed on the stream it was
/// allocated on.
class Pool {
 public:
  Pool(Upstream& upstream, PoolOptions options);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  struct Block {
    void* data = nullptr;
    Run* run = nullptr;  ///< null: allocated directly from the upstream
  };
  Front& enter(Upstream::Handle stream);
  /// Removes a front. Call it before the stream is destroyed, when all its blocks are free.
  void leave(Front& front) noexcept;
  Block allocate(Front& front, std::size_t bytes);
  void deallocate(Front& front, Block block, std::size_t bytes) noexcept;

  /// Between close() and open() the stream is being captured, and its allocations bypass the pool.
  void close(Front& front);
  void open(Front& front);

  /// Reserves a chunk of this size from the upstream in advance.
  void prime(std::size_t bytes);
  /// Releases every unused chunk to the upstream, and trims the upstream.
  void trim();
  PoolStats stats() const;
  /// Returns the statistics, and every chunk with its blocks.
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
  const std::uint8_t number_;  // the pool's number in traces
  std::atomic<std::uint64_t> keep_, limit_;
  std::atomic<std::uint64_t> retries_{0}, failures_{0};
  // On a cache line of its own, away from what every call reads.
  alignas(64) std::atomic<std::uint64_t> live_bytes_{0};
  std::atomic<std::uint64_t> peak_bytes_{0};

  // Locks are taken in this order: the list of fronts, one front, the chunks.
  alignas(64) mutable std::mutex fronts_mutex_;
  std::vector<std::unique_ptr<Front>> fronts_;
  PoolStats gone_;  // counters of fronts that were removed
  mutable std::mutex chunks_mutex_;
  ChunkHeap heap_;
  Order order_;
  std::uint64_t growing_ = 0, reserved_peak_ = 0;
};

}  // namespace kolmo::memory
