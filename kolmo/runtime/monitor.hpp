#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kolmo::monitor {

/// What was seen of one operator on one kind of device. On CUDA, seconds are those of queueing the work.
struct Record {
  std::string op, device;
  std::uint64_t calls = 0;
  double seconds = 0;
};

inline std::atomic<bool> enabled{false};
void add(std::string_view op, std::string_view device, double seconds);
std::vector<Record> snapshot();
void reset();

/// Counts and times a dispatch for as long as it lives. While the monitor is off it costs one relaxed load.
class Scope {
 public:
  Scope(std::string_view op, std::string_view device) : on_(enabled.load(std::memory_order_relaxed)) {
    if (on_) op_ = op, device_ = device, begin_ = Clock::now();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() {
    if (on_) add(op_, device_, std::chrono::duration<double>(Clock::now() - begin_).count());
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool on_;
  std::string_view op_, device_;
  Clock::time_point begin_;
};

}  // namespace kolmo::monitor
