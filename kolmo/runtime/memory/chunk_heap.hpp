#pragma once
#include <cstddef>
#include <set>
#include <vector>

#include "kolmo/runtime/memory/order.hpp"

namespace kolmo::memory {

struct Chunk;

/// A range of a chunk, either free or in use.
struct Span {
  Chunk* chunk;
  char* data;
  std::size_t bytes;
  bool free = false;
  Span *previous = nullptr, *next = nullptr;  // neighbours in the chunk
  Stamps stamps;                              // while the span is free: the work that may still be using it
};

/// Memory obtained from the upstream.
struct Chunk {
  char* data;
  std::size_t bytes;
  Span* first;
};

/// Cuts chunks into spans by best fit: an index ordered by size finds the smallest span that fits, and of
/// equal ones that with the lowest address. Neighbouring free spans are merged. Stamps are stored but not
/// interpreted. The caller must serialise calls.
class ChunkHeap {
 public:
  static constexpr std::size_t granule = 8 << 10;  // sizes of spans are multiples of this

  ChunkHeap() = default;
  ChunkHeap(const ChunkHeap&) = delete;
  ChunkHeap& operator=(const ChunkHeap&) = delete;
  ~ChunkHeap();

  /// The smallest free span of at least `bytes` for which `usable(span)` holds, among the `tries` smallest;
  /// null if there is none.
  template <class Usable>
  Span* find(std::size_t bytes, int tries, Usable&& usable) const {
    for (auto at = free_.lower_bound(bytes); at != free_.end() && tries-- > 0; ++at)
      if (usable(**at)) return *at;
    return nullptr;
  }
  /// Takes the first `bytes` of a free span; the rest stays free with the same stamps.
  Span* take(Span* span, std::size_t bytes);
  void give(Span* span, const Stamps& stamps);

  /// Adds a chunk as one free span.
  Span* add(void* data, std::size_t bytes, Stamps stamps);
  /// Removes a chunk whose only span is `span`, which is free.
  void remove(Span* span);

  static bool whole(const Span& s) { return !s.previous && !s.next; }
  std::vector<Span*> whole_chunks() const;  // chunks that are entirely free
  const std::vector<Chunk*>& chunks() const { return chunks_; }
  std::size_t reserved() const { return reserved_; }
  std::size_t free_bytes() const { return free_bytes_; }
  std::size_t largest_free() const { return free_.empty() ? 0 : (*free_.rbegin())->bytes; }

 private:
  struct Smaller {
    using is_transparent = void;
    bool operator()(const Span* a, const Span* b) const {
      return a->bytes != b->bytes ? a->bytes < b->bytes : a->data < b->data;
    }
    bool operator()(const Span* a, std::size_t bytes) const { return a->bytes < bytes; }
    bool operator()(std::size_t bytes, const Span* b) const { return bytes < b->bytes; }
  };
  void insert(Span* span);
  void erase(Span* span);
  Span* join(Span* left, Span* right);

  std::set<Span*, Smaller> free_;
  std::vector<Chunk*> chunks_;
  std::size_t reserved_ = 0, free_bytes_ = 0;
};

}  // namespace kolmo::memory
