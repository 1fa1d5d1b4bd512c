#include "kolmo/io/cell.hpp"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kolmo/io/file.hpp"

namespace kolmo {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

bool marks_missing(std::string_view text) {
  if (text.empty()) return true;
  if (text.size() > 4) return false;
  std::string lower(text);
  for (char& c : lower) c = char(c >= 'A' && c <= 'Z' ? c + 32 : c);
  static constexpr std::string_view marks[] = {"na", "n/a", "#n/a", "nan", "+nan", "null", "none", "."};
  return std::find(std::begin(marks), std::end(marks), lower) != std::end(marks);
}

bool only_digits_and(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return digit(c) || others.find(c) != std::string_view::npos; });
}

bool comma_between_digits(std::string_view text) {
  const auto comma = text.find(',');
  return comma != std::string_view::npos && comma > 0 && comma + 1 < text.size() && digit(text[comma - 1]) &&
         digit(text[comma + 1]) && only_digits_and(text, "+-.,eE '");
}

}  // namespace

Cell parse_cell(std::string_view text) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::string_view number = text;
  if (number.size() > 1 && number[0] == '+' && (digit(number[1]) || number[1] == '.'))
    number.remove_prefix(1);
  double value = 0;
  const char* end = number.data() + number.size();
  const auto parsed = fast_float::from_chars(number.data(), end, value);
  if (parsed.ptr == end && parsed.ec != std::errc::invalid_argument && !number.empty()) {
    if (std::isnan(value)) return {Cell::missing, nan};
    if (std::isinf(value)) return {Cell::infinite, nan};
    return {Cell::number, value};
  }
  if (marks_missing(text)) return {Cell::missing, nan};
  if (text == "+inf" || text == "+Inf" || text == "+INF") return {Cell::infinite, nan};
  return {Cell::text, nan};
}

std::string explain(std::string_view text, Cell::Kind kind) {
  const std::string shown = '"' + printable(text) + '"';
  if (kind == Cell::infinite) {
    const bool digits = std::any_of(text.begin(), text.end(), digit);
    return shown +
           (digits ? " is too large for a double" : " is infinite; a series holds finite numbers or NaN");
  }
  if (comma_between_digits(text)) {
    return shown + " has a comma in a number; write 1.5 for a decimal comma, and no thousands separators";
  }
  const auto blank = text.find_first_of(" \t");
  if (blank != std::string_view::npos && parse_cell(text.substr(0, blank)).kind == Cell::number &&
      only_digits_and(text, "+-.eE \t")) {
    return shown +
           " is more than one number; separate columns with one kind of separator, and write 1.5, not 1,5";
  }
  return shown + " is not a number";
}

}  // namespace kolmo
