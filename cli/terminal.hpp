#pragma once
#include <string>
#include <vector>

namespace kolmo::cli {

/// The terminal of a program that fills it: another screen, without echo and cursor, as long as the object
/// lives. One at a time. SIGINT, SIGTERM and an exception leave the terminal as it was.
class Terminal {
 public:
  /// Standard output must be a terminal. Without one on standard input there are no keys.
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  struct Size {
    std::size_t rows, columns;
  };
  /// 24 x 80 if the terminal does not say.
  static Size size();
  /// Shows these lines from the top, each of which must fit.
  void show(const std::vector<std::string>& lines);
  /// The next key: a character, or "up", "down", "page up", "page down", "home", "end", "escape"; empty after
  /// `seconds`, or when the terminal changed its size.
  std::string key(double seconds);
};

}  // namespace kolmo::cli
