#pragma once
#include "python/src/module.hpp"

namespace kolmo::python {

/// As long as it lives, other threads of Python run. A daemon thread that comes back when the interpreter ends waits for the
/// end of the process instead: Python would end it by an unwinding that aborts in C++.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;
  ~Released();

 private:
  PyThreadState* state_;
};

/// Stands around calls of Python from C++, for the same reason: such a call is not begun when the interpreter ends, and those
/// that were begun are waited for, a second at most.
class Callback {
 public:
  Callback();
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
  ~Callback();
};

/// Has the interpreter say when it ends.
void add_released(nb::module_& module);

}  // namespace kolmo::python
