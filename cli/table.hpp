#pragma once
#include <ostream>
#include <string>
#include <vector>

namespace kolmo::cli {

/// A short aligned text table. A column whose title starts with '>' is right-aligned.
///   TextTable t({"source", ">nats"});
///   t.add({"a", "0.125"});
///   t.print(std::cout);
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> titles);
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  void print(std::ostream& out) const;
  std::vector<std::string> lines() const;

 private:
  std::vector<std::string> titles_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

enum class Color { red = 31, green = 32, yellow = 33, bold = 1, dim = 2 };
/// The text in colour if standard output is a terminal and NO_COLOR is not set; otherwise unchanged.
std::string paint(Color color, const std::string& text);

/// A number with `digits` significant digits, such as "0.1235" or "1.2e-09".
std::string significant(double value, int digits = 4);
/// A share as text: "12.3 %" for 0.123, "-" for NaN.
std::string percent(double share, int digits = 3);
/// A duration as text, such as "12.3 us", "4.56 ms" or "1.20 s".
std::string duration(double seconds);

}  // namespace kolmo::cli
