#include "python/src/released.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

namespace kolmo::python {
namespace {

std::atomic<int> under_way{
    0};  // calls from here into Python and from Python into the library, which the end waits for
std::atomic<bool> ending{false};
std::thread::id ender;  // the thread that ends the interpreter, and goes on calling; set before `ending`

/// The interrupts of the workers.
struct Workers {
  std::mutex mutex;
  std::set<std::atomic<bool>*> interrupts;
};
Workers& workers() {
  static auto* const all = new Workers;  // never destroyed: a worker may go on while the process ends
  return *all;
}

bool interpreter_ends() { return ending && std::this_thread::get_id() != ender; }

/// Whether this thread may begin a call; if so, the call is counted.
bool enter() {
  ++under_way;
  if (!interpreter_ends()) return true;
  --under_way;
  return false;
}

[[noreturn]] void wait_for_the_end() {
  for (;;) ::pause();
}

[[noreturn]] void wait_without_python() {
  PyEval_SaveThread();
  wait_for_the_end();
}

void end() {
  ender = std::this_thread::get_id();
  ending = true;
  {
    const std::scoped_lock lock(workers().mutex);
    for (std::atomic<bool>* interrupt : workers().interrupts) *interrupt = true;
  }
  PyThreadState* const state = PyEval_SaveThread();
  for (int milliseconds = 0; under_way > 0 && milliseconds < 1000; ++milliseconds) ::usleep(1000);
  PyEval_RestoreThread(state);
}

/// The child of a fork has none of the other threads.
void forget_other_threads() {
  under_way = 0;
  workers().interrupts.clear();
  workers().mutex.unlock();
}

}  // namespace

Released::Released() : state_(PyEval_SaveThread()) {
  if (!enter()) wait_for_the_end();
}

Released::~Released() {
  if (interpreter_ends()) {
    --under_way;
    wait_for_the_end();
  }
  PyEval_RestoreThread(state_);
  --under_way;
}

Callback::Callback() {
  if (!enter()) wait_without_python();
}

Callback::~Callback() { --under_way; }

Worker::Worker(std::atomic<bool>& interrupt) : interrupt_(interrupt) {
  {
    const std::scoped_lock lock(workers().mutex);
    workers().interrupts.insert(&interrupt);
  }
  if (!enter()) wait_without_python();
}

Worker::~Worker() {
  {
    const std::scoped_lock lock(workers().mutex);
    workers().interrupts.erase(&interrupt_);
  }
  --under_way;
}

void add_released(nb::module_&) {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(end));
  ::pthread_atfork([] { workers().mutex.lock(); }, [] { workers().mutex.unlock(); }, forget_other_threads);
}

}  // namespace kolmo::python
