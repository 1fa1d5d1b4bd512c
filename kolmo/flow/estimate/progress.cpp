#include "kolmo/flow/estimate/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "kolmo/base/number_text.hpp"

namespace kolmo {
namespace {

using Seconds = std::chrono::duration<double>;

}  // namespace

Progress::Progress(double total, std::string units, Listener listener)
    : total_(total),
      units_(std::move(units)),
      listener_(std::move(listener)),
      terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::advance(double done, bool earlier) {
  done_ += done;
  if (earlier) earlier_ += done;
  if (listener_) return listener_(done_, total_);
  const auto now = Clock::now();
  const auto pause = terminal_ ? Seconds(0.1) : Seconds(pause_);
  if (now - begin_ < Seconds(0.5) || now - last_ < pause) return;
  last_ = now;
  const std::string text = line(Seconds(now - begin_).count());
  if (terminal_)
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
  else
    std::fprintf(stderr, "kolmo: progress: %s\n", text.c_str());
  std::fflush(stderr);
  drawn_ = terminal_;
}

std::string Progress::line(double seconds) const {
  constexpr int width = 24;
  const double share = std::min(1.0, done_ / total_), rate = (done_ - earlier_) / seconds;
  const int full = int(share * width);
  std::string text;
  if (terminal_)
    text = '[' + std::string(std::size_t(full), '=') + std::string(std::size_t(width - full), ' ') + "] ";
  text += fmt::format("{:3.0f} %  {} {}/s", 100 * share, metric(rate), units_);
  if (rate > 0) text += "  " + duration((total_ - done_) / rate) + " left";
  return text;
}

double progress_seconds() {
  const char* given = std::getenv("KOLMO_PROGRESS_SECONDS");
  const double seconds = given ? number_in(given).value_or(0) : 0;
  return seconds > 0 && seconds <= 1e6 ? seconds : 60;
}

ElapsedTime::ElapsedTime(std::string what)
    : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) == 1), thread_([this] { run(); }) {}

ElapsedTime::~ElapsedTime() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  end_.notify_all();
  thread_.join();
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void ElapsedTime::run() {
  const auto begin = std::chrono::steady_clock::now();
  const Seconds pause(terminal_ ? 1 : progress_seconds());
  std::unique_lock lock(mutex_);
  for (int line = terminal_ ? 2 : 1;; ++line) {
    const auto next = begin + std::chrono::duration_cast<std::chrono::steady_clock::duration>(line * pause);
    if (end_.wait_until(lock, next, [&] { return ended_; })) return;
    const std::string now = what_ + ": " + duration(line * pause.count()) + " so far";
    if (terminal_)
      std::fprintf(stderr, "\r\033[K%s", now.c_str());
    else
      std::fprintf(stderr, "kolmo: progress: %s\n", now.c_str());
    std::fflush(stderr);
    drawn_ = terminal_;
  }
}

std::string metric(double value) {
  constexpr const char* prefixes[] = {"", " k", " M", " G", " T"};
  std::size_t i = 0;
  for (; value >= 999.5 && i + 1 < std::size(prefixes); ++i) value /= 1000;
  return fmt::format("{:.3g}{}", value, prefixes[i]);
}

std::string duration(double seconds) {
  const auto s = std::llround(std::clamp(seconds, 0.0, 3.6e8));
  if (s >= 3600) return fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
  return s >= 60 ? fmt::format("{} min {:02} s", s / 60, s % 60) : fmt::format("{} s", s);
}

}  // namespace kolmo
