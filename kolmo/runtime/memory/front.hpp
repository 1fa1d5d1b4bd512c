#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <mutex>

#include "kolmo/runtime/memory/chunk_heap.hpp"
#include "kolmo/runtime/memory/size_class.hpp"
#include "kolmo/runtime/memory/stats.hpp"

namespace kolmo::memory {

/// A span cut into blocks of one size class, or one block larger than every class.
struct Run {
  static constexpr int max_blocks = 256;
  static constexpr std::size_t preferred_bytes = 64 << 10;

  Span* span = nullptr;
  std::size_t block_bytes;
  int blocks, used = 0;
  std::array<std::uint64_t, max_blocks / 64> free{};  // one bit per block
  // Neighbours in the front's list, which holds runs with a free block.
  Run *previous = nullptr, *next = nullptr;

  explicit Run(std::size_t bytes) : block_bytes(bytes), blocks(blocks_of(bytes)) {
    for (int i = 0; i < blocks; ++i) free[std::size_t(i) / 64] |= std::uint64_t(1) << i % 64;
  }
  static int blocks_of(std::size_t block_bytes) {
    return int(std::clamp<std::size_t>(preferred_bytes / block_bytes, 1, max_blocks));
  }
  static std::size_t span_bytes(std::size_t block_bytes) {
    return round_up(block_bytes * std::size_t(blocks_of(block_bytes)), ChunkHeap::granule);
  }
  bool full() const { return used == blocks; }

  void* take() {
    ++used;
    for (std::size_t w = 0;; ++w)
      if (free[w]) {
        const int bit = std::countr_zero(free[w]);
        free[w] &= free[w] - 1;
        return span->data + (w * 64 + std::size_t(bit)) * block_bytes;
      }
  }
  void give(const void* block) {
    --used;
    const auto i = std::size_t(static_cast<const char*>(block) - span->data) / block_bytes;
    free[i / 64] |= std::uint64_t(1) << i % 64;
  }
};

/// A stream's own cache: runs by size class, beginning with the run into which a block was freed most
/// recently. Its blocks are used only in the stream's order, so reuse needs no event.
struct alignas(64) Front {
  Upstream::Handle stream;
  std::uint32_t id;  // the stream's number in Order

  std::mutex mutex;  // guards the members below
  std::array<Run*, std::size_t(class_count)> runs{};
  std::size_t empty_bytes = 0;  // bytes of runs without a block in use
  bool closed = false;          // true while the stream is being captured
  std::uint64_t allocations = 0, from[memory_sources] = {};
  std::int64_t uncounted = 0;  // change of live bytes not yet added to the pool's count
  std::uint64_t live = 0, live_bytes = 0, granted_bytes = 0, direct_bytes = 0;
  std::array<std::uint64_t, 64> recent{};  // ring of the latest requested sizes

  void link(Run* run, int index) {
    run->previous = nullptr, run->next = runs[std::size_t(index)];
    if (run->next) run->next->previous = run;
    runs[std::size_t(index)] = run;
  }
  void unlink(Run* run, int index) {
    (run->previous ? run->previous->next : runs[std::size_t(index)]) = run->next;
    if (run->next) run->next->previous = run->previous;
  }
};

}  // namespace kolmo::memory
