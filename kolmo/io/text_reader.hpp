#pragma once
#include <string>
#include <string_view>

#include "kolmo/io/table.hpp"

namespace kolmo {

/// Reads a table of numbers from text in UTF-8; `name` stands for the file in messages.
/// - Cells are separated by commas, semicolons, tabs or blanks (spaces and tabs), found from the first rows.
/// - A first row that holds text and no number (nor a date) is the header. Without one, columns are named
/// "0", "1", ...
///   Text above a number in a first row that holds numbers too is an error: it is neither header nor data.
/// - Lines that start with % or # are comments; a byte order mark, CRLF and CR line ends are understood.
/// - Quoted cells follow RFC 4180: "" within quotes is one quote; separators and line ends may be quoted.
/// - Missing (NaN): an empty cell, or NA, N/A, #N/A, NaN, null, none, "." in any case.
/// - A nameless last column without any value is the mark of rows that end with a separator, and is left out.
/// - Text, infinite values, decimal commas and thousands separators are faults of their column (see Table).
/// Raises InvalidArgument, "NAME:LINE: ...", for rows of different lengths, an empty line between rows, an
/// open quote, a header without rows, an empty file, and what is not text.
Table parse_text(std::string_view content, const std::string& name);

}  // namespace kolmo
