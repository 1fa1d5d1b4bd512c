#include "kolmo/io/cell.hpp"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kolmo/base/error.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

bool usual_mark(std::string_view text) {
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

bool is_listed(std::string_view text, const CellFormat& format) {
  return std::find(format.missing.begin(), format.missing.end(), text) != format.missing.end();
}

/// Parses a number, NaN or infinity. The kind is `text` for anything else.
Cell parse_number(std::string_view text, char decimal) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (text.size() > 1 && text[0] == '+' && (digit(text[1]) || text[1] == decimal)) text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const fast_float::parse_options options(fast_float::chars_format::general, decimal);
  const auto parsed = fast_float::from_chars_advanced(text.data(), end, value, options);
  if (parsed.ptr != end || parsed.ec == std::errc::invalid_argument || text.empty()) return {Cell::text, nan};
  if (std::isnan(value)) return {Cell::missing, nan};
  if (std::isinf(value)) return {Cell::infinite, nan};
  return {Cell::number, value};
}

/// How a text is read as a missing value, if it may have been meant so: not a date or a number in another form.
std::string missing_hint(std::string_view text, const CellFormat& format) {
  constexpr std::size_t longest = 20;
  const char separator = format.decimal == ',' ? ';' : ',';
  const bool possible =
      text.size() <= longest && printable(text) == text && text.find(separator) == text.npos &&
      text.find('\'') == text.npos &&
      !(std::any_of(text.begin(), text.end(), digit) && only_digits_and(text, "+-.,:/ eEdDxXTZ"));
  if (!possible) return "";
  const bool plain = text.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-") == text.npos;
  const std::string word(text);
  const std::string given = text[0] == '-' ? "='" + word + "'" : plain ? " " + word : " '" + word + "'";
  return "; --na" + given + " reads it as a missing value";
}

}  // namespace

std::vector<std::string> missing_marks(const std::string& list, char separator) {
  std::vector<std::string> marks;
  if (list.empty()) return marks;
  for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
    to = list.find(separator, from);
    const std::string item = list.substr(from, to == std::string::npos ? to : to - from);
    const auto first = item.find_first_not_of(" \t");
    require(first != std::string::npos, "--na: '" + printable(list) + "' holds an empty text");
    marks.push_back(item.substr(first, item.find_last_not_of(" \t") + 1 - first));
  }
  return marks;
}

bool marks_missing(double value, const CellFormat& format) {
  return std::any_of(format.missing.begin(), format.missing.end(), [&](const std::string& mark) {
    const Cell cell = parse_number(mark, format.decimal);
    return cell.kind == Cell::number && cell.value == value;
  });
}

Cell parse_cell(std::string_view text, const CellFormat& format) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                   infinity = std::numeric_limits<double>::infinity();
  Cell cell = parse_number(text, format.decimal);
  if (format.infinite_is_number && (cell.kind == Cell::infinite || cell.kind == Cell::missing))
    cell = {Cell::number, cell.kind == Cell::missing ? -infinity : infinity};
  if (!format.missing.empty() &&
      (is_listed(text, format) || (cell.kind == Cell::number && marks_missing(cell.value, format))))
    return {Cell::missing, nan};
  if (cell.kind != Cell::text) return cell;
  if (usual_mark(text)) return {Cell::missing, nan};
  if (text == "+inf" || text == "+Inf" || text == "+INF") return {Cell::infinite, nan};
  return cell;
}

std::string explain(std::string_view text, Cell::Kind kind, const CellFormat& format) {
  const std::string shown = '"' + printable(text) + '"';
  if (kind == Cell::infinite) {
    const bool digits = std::any_of(text.begin(), text.end(), digit);
    return shown +
           (digits ? " is too large for a double" : " is infinite; a series holds finite numbers or NaN");
  }
  if (format.decimal == ',' && parse_cell(text).kind == Cell::number)
    return shown + " has a point in a number, but --decimal , was given";
  if (format.decimal == '.' && comma_between_digits(text)) {
    return shown +
           " has a comma in a number; --decimal , reads decimal commas; thousands separators are not read";
  }
  const auto blank = text.find_first_of(" \t");
  if (blank != std::string_view::npos && parse_cell(text.substr(0, blank), format).kind == Cell::number &&
      only_digits_and(text, "+-.,eE \t")) {
    return shown + " is more than one number; separate columns with one kind of separator, and see --decimal";
  }
  return shown + " is not a number" + missing_hint(text, format);
}

}  // namespace kolmo
