#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace kolmo {

/// Seconds between lines of progress in a log: 60, or the value of the environment variable
/// KOLMO_PROGRESS_SECONDS if it is a number above 0.
double progress_seconds();

/// A progress line on the terminal (standard error) with the share done, the rate and the remaining time,
/// drawn anew up to ten times a second, but not during the first half second. If standard error is not a
/// terminal, a line of its own is written every progress_seconds().
class Progress {
 public:
  /// A function that is told how much is done, and of what total. The terminal then shows nothing.
  using Listener = std::function<void(double done, double total)>;
  /// `units` names what is counted, e.g. "estimates".
  Progress(double total, std::string units, Listener listener = {});
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// Says that the total is larger by so many units.
  void expect(double more) { total_ += more; }
  /// Says that `done` more units are finished. With `earlier` they come from an earlier run and do not count
  /// towards the rate.
  void advance(double done, bool earlier = false);

 private:
  using Clock = std::chrono::steady_clock;
  std::string line(double seconds) const;

  double total_, done_ = 0, earlier_ = 0;
  std::string units_;
  Listener listener_;
  bool terminal_, drawn_ = false;
  double pause_ = progress_seconds();
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
};

/// For work whose progress cannot be seen: says how long it has taken, on a terminal every second from the
/// second one on, otherwise in a line of its own every progress_seconds(). Stops when it is destroyed.
class ElapsedTime {
 public:
  explicit ElapsedTime(std::string what);
  ElapsedTime(const ElapsedTime&) = delete;
  ElapsedTime& operator=(const ElapsedTime&) = delete;
  ~ElapsedTime();

 private:
  void run();

  const std::string what_;
  const bool terminal_;
  bool drawn_ = false, ended_ = false;
  std::mutex mutex_;
  std::condition_variable end_;
  std::thread thread_;
};

/// A number with a metric prefix, such as "1.25 M" or "830".
std::string metric(double value);
/// A duration, such as "2 h 05 min" or "41 s".
std::string duration(double seconds);

}  // namespace kolmo
