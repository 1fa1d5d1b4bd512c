#pragma once
#include <string>
#include <string_view>

#include "kolmo/io/byte_reader.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo {

/// Parses a table of numbers from text in UTF-8; `name` stands for the file in messages. The text is read
/// piece by piece: what is kept are the numbers.
/// - Cells are separated by commas, semicolons, tabs or blanks (spaces and tabs), found from the first rows.
/// - A first row that holds text and no number (nor a date) is the header. Without one, columns are named
///   "0", "1", ...
///   Text above a number in a first row that holds numbers too is an error: it is neither header nor data.
///   A first row of numbers that looks like a header (see HeaderGuess) is data, and a remark says so.
///   `options.header` says instead what the first row is.
/// - Lines that start with % or # are comments above the first row of numbers; `options.comments` says what they are below it,
///   where they are an error unless it says so. A byte order mark, CRLF and CR line ends are accepted.
/// - Quoted cells follow RFC 4180: "" within quotes is one quote; separators and line ends may be quoted.
/// - Missing (NaN): an empty cell, or NA, N/A, #N/A, NaN, null, none, "." in any case, and what the options
///   name.
/// - A last column without name and values comes from rows that end with a separator, and is dropped.
/// - Text, infinite values, decimal marks of the other kind and thousands separators are faults of their
///   column (see Table).
/// - With `options.transpose` a row of the text is a column of the table, and its first cell its name, if all
///   first cells are text or `options.header` says so.
/// Throws InvalidArgument, "NAME:LINE: ...", for rows of different lengths, an empty line between rows, an
/// unclosed quote, a header without rows, an empty file, input that is not text, rows longer than
/// longest_row or with more than most_columns cells, and columns separated by commas that are decimal.
Table parse_text(std::string_view content, const std::string& name, const TableOptions& options = {});
Table read_text(ByteReader& bytes, const std::string& name, const TableOptions& options = {});

}  // namespace kolmo
