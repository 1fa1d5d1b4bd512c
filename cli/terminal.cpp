#include "cli/terminal.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <string_view>

#include "cli/interrupt.hpp"

namespace kolmo::cli {
namespace {

constexpr std::string_view enter = "\033[?1049h\033[?25l", leave = "\033[?25h\033[?1049l";

struct Saved {
  termios settings{};
  bool changed = false, shown = false;
};
Saved saved;

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n <= 0 && errno != EINTR) return;
    if (n > 0) text.remove_prefix(std::size_t(n));
  }
}

void restore() {
  if (saved.shown) write_all(leave);
  if (saved.changed) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved.settings);
  saved = {};
}

/// The name of the key that sends these bytes after ESC.
std::string named(const std::string& sequence) {
  static const std::map<std::string, std::string> names{
      {"[A", "up"},       {"OA", "up"},         {"[B", "down"}, {"OB", "down"},
      {"[5~", "page up"}, {"[6~", "page down"}, {"[H", "home"}, {"OH", "home"},
      {"[1~", "home"},    {"[F", "end"},        {"OF", "end"},  {"[4~", "end"}};
  const auto found = names.find(sequence);
  return sequence.empty() ? "escape" : found == names.end() ? "" : found->second;
}

bool readable(int milliseconds) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, milliseconds) > 0 && (input.revents & POLLIN);
}

}  // namespace

Terminal::Terminal() {
  write_at_interrupt(restore);
  struct sigaction action {};
  action.sa_handler = [](int) {};  // the signal only ends a wait for a key
  ::sigaction(SIGWINCH, &action, nullptr);
  if (::tcgetattr(STDIN_FILENO, &saved.settings) == 0) {
    termios raw = saved.settings;
    raw.c_lflag &= ~tcflag_t(ICANON | ECHO);
    raw.c_cc[VMIN] = 1, raw.c_cc[VTIME] = 0;
    saved.changed = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  saved.shown = true;
  write_all(enter);
}

Terminal::~Terminal() { restore(); }

Terminal::Size Terminal::size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {24, 80};
  return {size.ws_row, size.ws_col};
}

void Terminal::show(const std::vector<std::string>& lines) {
  std::string screen = "\033[H";
  for (std::size_t i = 0; i < lines.size(); ++i) screen += (i ? "\n" : "") + lines[i] + "\033[K";
  write_all(screen + "\033[J");
}

std::string Terminal::key(double seconds) {
  const int wait = int(1e3 * seconds);
  if (!saved.changed) {
    ::poll(nullptr, 0, wait);
    return "";
  }
  char c = 0;
  if (!readable(wait)) return "";
  if (::read(STDIN_FILENO, &c, 1) != 1) {  // the terminal is gone
    saved.changed = false;
    return "q";
  }
  if (c != '\033') return std::string(1, c);
  std::string sequence;
  constexpr int within_a_sequence = 20;
  while (sequence.size() < 8 && readable(within_a_sequence) && ::read(STDIN_FILENO, &c, 1) == 1) {
    sequence += c;
    if (sequence.size() > 1 && (c == '~' || (c >= 'A' && c <= 'Z'))) break;
  }
  return named(sequence);
}

}  // namespace kolmo::cli
