#pragma once
#include <deque>
#include <mutex>
#include <optional>

#include "kolmo/runtime/memory/chunk_heap.hpp"
#include "kolmo/runtime/memory/trace.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo::memory {

/// Page-locked host memory for copies to and from a device, one pool per device. Sizes have four classes per
/// octave. Slabs come from the backend, which locks and touches them, and are kept, up to a cap. A block is
/// reused only once the event recorded at its deallocation is done, since the host may write to it at once.
/// Beyond the cap blocks are ordinary pageable memory: such blocks are counted, and copies with them make the
/// host wait.
class PinnedPool {
 public:
  struct Block {
    void* data = nullptr;
    Span* span = nullptr;  ///< null if the block is pageable
  };
  PinnedPool(Backend& backend, std::string name, std::uint64_t cap);
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;
  ~PinnedPool();

  Block allocate(std::size_t bytes);
  /// Returns a block, which work queued on the stream so far may still use.
  void deallocate(Block block, std::size_t bytes, const Stream& stream) noexcept;
  void trim();
  PoolStats stats() const;
  TracePool snapshot() const;
  /// Number of blocks so far that were pageable.
  std::uint64_t pageable() const;
  void set_cap(std::uint64_t bytes);

 private:
  struct Waiting {
    Span* span;
    Backend::Handle event;
  };
  void collect();
  void note(Action action, const void* data, std::size_t requested, std::size_t granted,
            MemorySource source) const;

  Backend& backend_;
  const std::string name_;
  const std::uint8_t number_;  // the pool's number in traces
  mutable std::mutex mutex_;
  ChunkHeap heap_;
  std::deque<Waiting> waiting_;
  std::vector<Backend::Handle> events_;  // events that can be used again
  std::uint64_t cap_, pageable_ = 0;
  PoolStats counts_;
};

/// Returns the pool for copies to and from a device. For a device in host memory it caches ordinary memory.
PinnedPool& pinned_pool(Device device);

/// Host memory for copies on a stream; it is reused after they are done. Contents are not initialised.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  PinnedBuffer(std::size_t bytes, const Stream& stream)
      : stream_(stream),
        bytes_(bytes),
        block_(bytes ? pinned_pool(stream.device()).allocate(bytes) : PinnedPool::Block{}) {}
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : stream_(std::move(other.stream_)),
        bytes_(std::exchange(other.bytes_, 0)),
        block_(std::exchange(other.block_, {})) {}
  PinnedBuffer& operator=(PinnedBuffer other) noexcept {
    std::swap(stream_, other.stream_), std::swap(bytes_, other.bytes_), std::swap(block_, other.block_);
    return *this;
  }
  ~PinnedBuffer() {
    if (block_.data) pinned_pool(stream_->device()).deallocate(block_, bytes_, *stream_);
  }
  std::byte* data() const { return static_cast<std::byte*>(block_.data); }
  std::size_t bytes() const { return bytes_; }
  bool pageable() const { return block_.data && !block_.span; }

 private:
  std::optional<Stream> stream_;
  std::size_t bytes_ = 0;
  PinnedPool::Block block_;
};

}  // namespace kolmo::memory
