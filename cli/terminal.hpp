#pragma once
#include <string>
#include <vector>

namespace kolmo::cli {

/// A terminal that a program fills. As long as the object lives, the terminal shows another screen, without a
/// cursor and without echo of what is typed. There can be one at a time. SIGINT, SIGTERM and an exception
/// leave the terminal as it was.
class Terminal {
 public:
  /// Takes over the terminal. Standard output must be one. If standard input is none, there are no keys.
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  struct Size {
    std::size_t rows, columns;
  };
  /// The size of the terminal; 24 x 80 if it does not tell.
  static Size size();
  /// Shows these lines from the top. Each must fit into the terminal.
  void show(const std::vector<std::string>& lines);
  /// Waits for the next key and returns it: a character, or "up", "down", "page up", "page down", "home",
  /// "end", "escape". Empty after `seconds`, or when the terminal changed its size.
  std::string key(double seconds);
};

}  // namespace kolmo::cli
