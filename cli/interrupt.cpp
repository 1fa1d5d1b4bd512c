#include "cli/interrupt.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "kolmo/base/error.hpp"
#include "kolmo/io/atomic_file.hpp"

namespace kolmo::cli {
namespace {

// The signal handler reads these. It can only write a text that was prepared in advance.
char farewell[4096] = "\nkolmo: interrupted\n";
std::atomic<bool> exits = false, signalled = false;
std::atomic<pid_t> helper = 0;
constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
std::atomic<int> watched = -1;  // the end of a pipe that the handler writes to

struct Writers {
  std::mutex mutex;
  std::vector<std::function<void()>> list;
  bool finished = false;
};
/// The writers are never destroyed, because the thread that waits for a signal lives as long as the process.
Writers& writers() {
  static auto& w = *new Writers;
  return w;
}

/// Temporary files are removed even when nobody reads what is said.
void say_farewell() {
  remove_temporary_files();
  if (::write(STDERR_FILENO, farewell, std::strlen(farewell)) < 0) _exit(1);
}

extern "C" void on_interrupt(int signal) {
  const int saved = errno;
  const int pipe = watched.load();
  const auto number = static_cast<unsigned char>(signal);
  if (pipe >= 0 && !signalled.exchange(true) && ::write(pipe, &number, 1) == 1) {
    errno = saved;
    return;
  }
  if (const pid_t other = helper.load()) ::kill(other, signal);
  say_farewell();
  if (exits) _exit(128 + signal);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void write_when_signalled(int pipe) {
  unsigned char signal = 0;
  while (::read(pipe, &signal, 1) < 0 && errno == EINTR) {}
  Writers& w = writers();
  const std::scoped_lock lock(w.mutex);
  if (w.finished) return;
  for (const auto& write : w.list) try {
      write();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "\nkolmo: %s", e.what());
    }
  if (const pid_t other = helper.load()) ::kill(other, signal);
  say_farewell();
  _exit(128 + signal);
}

}  // namespace

void handle_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  handle_ending_signals(action);
  std::signal(SIGXFSZ, SIG_IGN);
}

void handle_ending_signals(const struct sigaction& action) {
  for (const int signal : ending_signals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (signal != SIGHUP || before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

void ignore_interrupts() {
  for (const int signal : ending_signals) std::signal(signal, SIG_IGN);
}

void say_at_interrupt(const std::string& text) {
  std::strncpy(farewell, text.c_str(), sizeof farewell - 1);
  exits = true;
}

void write_at_interrupt(std::function<void()> write) {
  Writers& w = writers();
  const std::scoped_lock lock(w.mutex);
  w.list.push_back(std::move(write));
  if (watched >= 0) return;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail<DeviceError>(std::string("no pipe: ") + std::strerror(errno));
  std::thread(write_when_signalled, ends[0]).detach();
  watched = ends[1];
}

void pass_interrupts_on(pid_t process) { helper = process; }

void finish_interrupts() {
  Writers& w = writers();
  const std::scoped_lock lock(w.mutex);
  w.finished = true;
}

}  // namespace kolmo::cli
