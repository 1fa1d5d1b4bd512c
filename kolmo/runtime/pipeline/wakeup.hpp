#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace kolmo::detail {

/// Calls `done` repeatedly for up to `seconds` until it returns true, yielding in between. Returns its last
/// result.
template <class Done>
bool spin_until(double seconds, const Done& done) {
  using Clock = std::chrono::steady_clock;
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (!done()) {
    if (Clock::now() >= end) return false;
    std::this_thread::yield();
  }
  return true;
}

/// A condition variable with a single waiting thread, which spins before it sleeps.
class Wakeup {
 public:
  /// The mutex must be held.
  void notify() {
    changes_.fetch_add(1, std::memory_order_release);
    condition_.notify_one();
  }
  /// Waits until ready() is true: after each notify() it spins without the mutex for up to seconds(), then it
  /// sleeps. Both functions are called with the mutex held. notify() is called with the mutex held, so the
  /// wait for the mutex spins too.
  template <class Ready, class Seconds>
  void wait(std::unique_lock<std::mutex>& lock, const Ready& ready, const Seconds& seconds) {
    while (!ready()) {
      const std::uint64_t seen = changes_.load(std::memory_order_relaxed);
      const auto changed = [&] { return changes_.load(std::memory_order_acquire) != seen; };
      if (const double s = seconds(); s > 0) {
        lock.unlock();
        if (!spin_until(s, [&] { return changed() && lock.try_lock(); })) lock.lock();
      }
      condition_.wait(lock, changed);
    }
  }

 private:
  std::condition_variable condition_;
  std::atomic<std::uint64_t> changes_ = 0;
};

}  // namespace kolmo::detail
