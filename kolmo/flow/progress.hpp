#pragma once
#include <chrono>
#include <string>

namespace kolmo {

/// A line on the terminal (standard error) with the share done, the rate and the time left. Silent where
/// standard error is no terminal, and until half a second has passed.
class Progress {
 public:
  /// `units` names what is counted, e.g. "estimates".
  Progress(double total, std::string units);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// `done` units have just been finished; those found finished from an earlier run do not count for the
  /// rate.
  void advance(double done, bool earlier = false);

 private:
  using Clock = std::chrono::steady_clock;
  void draw(double seconds);

  double total_, done_ = 0, earlier_ = 0;
  std::string units_;
  bool terminal_, drawn_ = false;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
};

/// "1.25 M", "830": a number with a metric prefix.
std::string metric(double value);
/// "2 h 05 min", "41 s".
std::string duration(double seconds);

}  // namespace kolmo
