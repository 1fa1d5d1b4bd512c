#pragma once
#include <algorithm>
#include <chrono>

namespace kolmo {

/// How much work to hand over at once: little at first, then what takes about two seconds, so that progress
/// shows and little is lost when the process is killed. Results must not depend on it.
class Pace {
 public:
  double budget() const { return rate_ * seconds_; }

  /// How many of `count` items of `work` each, at least one.
  std::size_t fit(double work, std::size_t count) const {
    return std::size_t(std::clamp(budget() / work, 1.0, double(count)));
  }

  template <class F>
  auto measure(double work, F&& f) {
    const auto begin = std::chrono::steady_clock::now();
    auto result = f();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    took(work, taken.count());
    return result;
  }
  void took(double work, double seconds) {
    rate_ = work / std::max(seconds, 1e-6);
    seconds_ = std::min(2.0, 2 * seconds_);
  }

 private:
  double rate_ = 1e6, seconds_ = 0.125;
};

}  // namespace kolmo
