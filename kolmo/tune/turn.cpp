#include "kolmo/tune/turn.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace kolmo::tune {

Turn::Turn(const Store& store, const std::function<void()>& waiting)
    : file_(::open((store.root() + "/v1/.turn").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666)) {
  if (file_ < 0) return;
  for (bool first = true; ::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; first = false) {
    if (first && waiting) waiting();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

Turn::~Turn() {
  if (file_ >= 0) ::close(file_);  // gives the turn back
}

}  // namespace kolmo::tune
