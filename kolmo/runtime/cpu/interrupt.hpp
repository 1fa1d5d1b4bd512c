#pragma once
#include <atomic>

#include "kolmo/base/error.hpp"

namespace kolmo {

/// Thrown when work was given up because its caller asked for that. What the work was to write is incomplete.
struct Interrupted : Error {
  using Error::Error;
};

/// While an object of this class lives, work of its thread is given up soon after `requested` became true:
/// parallel_for throws Interrupted before the next item, in this thread and in those that help it, and loops
/// over batches do at their next check_interrupt(). Such objects may be nested: the innermost one counts.
/// `requested` must outlive the object.
class Interruptible {
 public:
  explicit Interruptible(const std::atomic<bool>* requested);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  /// The request that this thread looks at; null if its work cannot be interrupted.
  static const std::atomic<bool>* current() noexcept;

 private:
  const std::atomic<bool>* before_;
};

/// Throws Interrupted if `requested` is true. If it is null, nothing happens.
inline void check_interrupt(const std::atomic<bool>* requested = Interruptible::current()) {
  if (requested && requested->load(std::memory_order_relaxed)) fail<Interrupted>("interrupted");
}

}  // namespace kolmo
