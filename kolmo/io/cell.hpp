#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/io/table_options.hpp"

namespace kolmo {

/// The content of a cell of a text table. `value` is NaN unless the cell is a number.
struct Cell {
  enum Kind { number, missing, infinite, text } kind;
  double value;
};

/// Parses a cell whose surrounding blanks were removed; the kinds are those of parse_text.
Cell parse_cell(std::string_view text, const CellFormat& format = {});

/// The texts in a list that mean a missing value. Throws InvalidArgument, naming --na, for an empty one.
std::vector<std::string> missing_marks(const std::string& list, char separator);

/// Whether `value` is one of the numbers of `format.missing`.
bool marks_missing(double value, const CellFormat& format);

/// The reason why a cell of kind `infinite` or `text` is refused, e.g. "\"1,5\" is not a number".
std::string explain(std::string_view text, Cell::Kind kind, const CellFormat& format = {});

}  // namespace kolmo
