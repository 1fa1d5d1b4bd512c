#pragma once
#include <atomic>

#include "python/src/module.hpp"

namespace kolmo::python {

/// Lets other threads of Python run as long as it lives. When the interpreter ends, a daemon thread begins no such work, and one
/// that comes back waits for the end of the process: Python would end it by an unwinding that aborts in C++. Work that was
/// begun is waited for, a second at most: libraries that it uses clean up at the end of the process.
class Released {
 public:
  Released();
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;
  ~Released();

 private:
  PyThreadState* state_;
};

/// Stands around calls of Python from C++, in the same way.
class Callback {
 public:
  Callback();
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
  ~Callback();
};

/// Stands around the work of a thread that Python does not know. The end of the interpreter interrupts it and waits for it, a
/// second at most.
class Worker {
 public:
  explicit Worker(std::atomic<bool>& interrupt);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

 private:
  std::atomic<bool>& interrupt_;
};

/// Has the interpreter say when it ends.
void add_released(nb::module_& module);

}  // namespace kolmo::python
