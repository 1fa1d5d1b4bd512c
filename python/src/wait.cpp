#include "python/src/wait.hpp"

#include <exception>
#include <optional>
#include <thread>

#include "kolmo/runtime/cpu/interrupt.hpp"
#include "python/src/released.hpp"

namespace kolmo::python {
namespace {

constexpr auto pause = std::chrono::milliseconds(50);

struct Waiting {
  Advance advance;
  std::atomic<bool> interrupt{false};
  std::optional<Worker> worker{interrupt};
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::exception_ptr failure;

  void run(const std::function<void(Advance&)>& work) {
    const Interruptible scope(&interrupt);
    try {
      work(advance);
    } catch (...) {
      failure = std::current_exception();
    }
    worker.reset();
    const std::scoped_lock lock(mutex);
    ended = true;
    changed.notify_one();
  }
  /// Whether the work has ended.
  bool wait() {
    const Released others;
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, pause, [&] { return ended; });
  }
};

/// Ends the work and waits for it, whatever is thrown.
struct Join {
  Waiting& waiting;
  std::thread& thread;
  ~Join() {
    if (!thread.joinable()) return;
    waiting.interrupt = true;
    const Released others;
    thread.join();
  }
};

}  // namespace

void wait_for(const std::function<void(Advance&)>& work, nb::handle progress) {
  Waiting waiting;
  std::thread thread([&] { waiting.run(work); });
  {
    const Join join{waiting, thread};
    const auto report = [&] {
      const Callback entered;
      const double total = waiting.advance.total;
      if (total > 0 && !progress.is_none()) progress(waiting.advance.done.load(), total);
    };
    while (!waiting.wait()) {
      if (const Callback entered; PyErr_CheckSignals()) throw nb::python_error();
      report();
    }
    thread.join();
    if (!waiting.failure) report();
  }
  if (waiting.failure) std::rethrow_exception(waiting.failure);
}

}  // namespace kolmo::python
