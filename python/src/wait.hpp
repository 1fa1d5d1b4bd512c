#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "python/src/module.hpp"

namespace kolmo::python {

/// How much work is done so far, for the thread that waits for it.
struct Advance {
  std::atomic<double> done{0}, total{0};
};

/// Runs work in a thread of its own and waits for it without the GIL. The waiting thread runs Python's signal handlers
/// and calls `progress(done, total)` some twenty times a second; what these raise, such as KeyboardInterrupt, interrupts
/// the work (see Interruptible) and is raised when that has ended. `progress` may be None.
void wait_for(const std::function<void(Advance&)>& work, nb::handle progress);

}  // namespace kolmo::python
