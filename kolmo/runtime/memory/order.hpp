#pragma once
#include <cstdint>
#include <vector>

#include "kolmo/runtime/memory/upstream.hpp"

namespace kolmo::memory {

/// A position in a stream's order: memory with this stamp was last used by work queued on the stream before
/// the ticket was issued.
struct Stamp {
  std::uint32_t stream;
  std::uint64_t ticket;
};
using Stamps = std::vector<Stamp>;  // at most one per stream
void merge(Stamps& into, const Stamps& from);

/// Tracks which work each stream must wait for before it may use memory that other streams have freed. An
/// event is recorded only when another stream takes memory, and covers everything freed on a stream until
/// then. A stream that has waited for an event does not wait for it again. The caller serialises calls.
class Order {
 public:
  explicit Order(Upstream& upstream) : upstream_(upstream) {}
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;
  ~Order();

  std::uint32_t enter(Upstream::Handle stream);
  /// Called before the stream is destroyed.
  void leave(std::uint32_t id) noexcept;
  /// Closes a stream, which is then captured and so records no events. Memory that it freed before is covered
  /// by an event.
  void close(std::uint32_t id);
  void open(std::uint32_t id) { streams_[id].open = true; }

  /// Returns the stamp for memory that is freed on the stream now.
  Stamp stamp(std::uint32_t id);
  /// Whether the stream may use the memory without waiting.
  bool ready(std::uint32_t id, const Stamps& stamps);
  /// Makes later work on the stream wait for the memory; returns whether that was necessary.
  bool wait(std::uint32_t id, const Stamps& stamps);
  /// Blocks until nothing uses the memory.
  void finish(const Stamps& stamps);
  bool finished(const Stamps& stamps);

 private:
  struct Stream {
    Upstream::Handle handle, event;
    bool alive = true, open = true;
    std::uint64_t recorded = 0;  // the latest ticket that the event covers
    std::uint64_t given = 0;     // the latest ticket that was stamped
    std::uint64_t done = 0;
    std::vector<std::uint64_t> seen;  // by stream: the latest ticket waited for
  };
  std::uint64_t seen(std::uint32_t id, std::uint32_t other) const;
  void publish(Stream& s);
  bool done(const Stamp& stamp);

  Upstream& upstream_;
  std::vector<Stream> streams_;
};

}  // namespace kolmo::memory
