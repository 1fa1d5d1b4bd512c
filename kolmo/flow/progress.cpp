#include "kolmo/flow/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace kolmo {

Progress::Progress(double total, std::string units)
    : total_(total), units_(std::move(units)), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::advance(double done, bool earlier) {
  done_ += done;
  if (earlier) earlier_ += done;
  const auto now = Clock::now();
  if (!terminal_ || now - begin_ < std::chrono::milliseconds(500) ||
      now - last_ < std::chrono::milliseconds(100))
    return;
  last_ = now;
  draw(std::chrono::duration<double>(now - begin_).count());
}

void Progress::draw(double seconds) {
  constexpr int width = 24;
  const double share = std::min(1.0, done_ / total_), rate = (done_ - earlier_) / seconds;
  const int full = int(share * width);
  std::string line =
      fmt::format("\r\033[K[{}{}] {:3.0f} %  {} {}/s", std::string(std::size_t(full), '='),
                  std::string(std::size_t(width - full), ' '), 100 * share, metric(rate), units_);
  if (rate > 0) line += "  " + duration((total_ - done_) / rate) + " left";
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
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
