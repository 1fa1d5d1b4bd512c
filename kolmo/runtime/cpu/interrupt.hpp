#pragma once
#include <atomic>

#include "kolmo/base/error.hpp"

namespace kolmo {

/// Work was given up because its caller asked for it. What it was to write is incomplete.
struct Interrupted : Error {
  using Error::Error;
};

/// While it lives, work of this thread is given up soon after `requested` became true: parallel_for, in this thread and
/// in those that help it, throws Interrupted before the next item, and loops over batches do at their next
/// check_interrupt(). May be nested: the innermost one counts. `requested` must outlive it.
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

/// Throws Interrupted if `requested` says so; null never does.
inline void check_interrupt(const std::atomic<bool>* requested = Interruptible::current()) {
  if (requested && requested->load(std::memory_order_relaxed)) fail<Interrupted>("interrupted");
}

}  // namespace kolmo
