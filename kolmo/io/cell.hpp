#pragma once
#include <string>
#include <string_view>

namespace kolmo {

/// What a cell of a text table holds. `value` is NaN unless it is a number.
struct Cell {
  enum Kind { number, missing, infinite, text } kind;
  double value;
};

/// Reads a cell whose surrounding blanks are already gone; the kinds are those of parse_text.
Cell parse_cell(std::string_view text);

/// Why a cell of kind `infinite` or `text` is refused, e.g. "\"1,5\" is not a number".
std::string explain(std::string_view text, Cell::Kind kind);

}  // namespace kolmo
