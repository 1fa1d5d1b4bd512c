#pragma once
#include <string>
#include <string_view>

namespace kolmo {

/// A text as a cell of CSV: in double quotes, with quotes doubled, if it holds a separator, a quote, a line break or outer
/// blanks, or begins as a comment does (RFC 4180). A text that a spreadsheet would run as a formula, as it begins with =, +, -,
/// @, a tab or a line break and is no number, gets an apostrophe before it.
std::string csv_cell(std::string_view text);

}  // namespace kolmo
