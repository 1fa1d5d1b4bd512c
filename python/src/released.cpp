#include "python/src/released.hpp"

#include <unistd.h>

#include <atomic>
#include <thread>

namespace kolmo::python {
namespace {

std::atomic<int> in_python{0};  // threads between here and Python, which the end waits for
std::atomic<bool> ending{false};
std::thread::id ender;  // the thread that ends the interpreter, and goes on calling; set before `ending`

/// Whether this thread may enter Python; if so, it is counted.
bool enter() {
  ++in_python;
  if (!ending || std::this_thread::get_id() == ender) return true;
  --in_python;
  return false;
}

[[noreturn]] void wait_for_the_end() {
  for (;;) ::pause();
}

void end() {
  ender = std::this_thread::get_id();
  ending = true;
  PyThreadState* const state = PyEval_SaveThread();
  for (int milliseconds = 0; in_python && milliseconds < 1000; ++milliseconds) ::usleep(1000);
  PyEval_RestoreThread(state);
}

}  // namespace

Released::~Released() {
  if (!enter()) wait_for_the_end();
  PyEval_RestoreThread(state_);
  --in_python;
}

Callback::Callback() {
  if (enter()) return;
  PyEval_SaveThread();
  wait_for_the_end();
}

Callback::~Callback() { --in_python; }

void add_released(nb::module_&) { nb::module_::import_("atexit").attr("register")(nb::cpp_function(end)); }

}  // namespace kolmo::python
