#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kolmo {

/// Why a cell holds no usable number: `what` is the whole error line, "FILE:LINE:COLUMN: ...".
struct Fault {
  std::size_t row;
  std::string what;
};

/// Series in columns: columns[c][t] is variable c at row t, NaN where missing. A cell that is neither a
/// finite number nor missing is recorded as a fault of its column and raised when that column is used, so
/// that a column of dates does not stand in the way of the others.
struct Table {
  /// A column keeps this many faults; the first one in range is the one that is raised.
  static constexpr std::size_t max_faults = 64;

  std::string file;
  std::vector<std::string> names;  // from the header; "0", "1", ... without one
  std::vector<std::vector<double>> columns;
  std::vector<std::vector<Fault>> faults;  // per column
  bool named = false;                      // the file has a header

  std::size_t rows() const { return columns.empty() ? 0 : columns[0].size(); }
};

/// How messages call a column: its name, or "column 3" where there is none.
std::string column_label(const Table& table, std::size_t column);

/// The columns that `spec` names, in its order: 0-based indices or header names, comma-separated; a name with
/// a comma, or one that reads like an index, is put in double quotes ("" within stands for one). An empty
/// spec means all columns. Raises InvalidArgument for an unknown, repeated or ambiguous column, naming what
/// there is, and for the first cell of a chosen column that is not a number.
std::vector<std::size_t> select_columns(const Table& table, const std::string& spec);

/// Rows START to END - 1, 0-based, of "START:END"; either end may be left out. Raises InvalidArgument for an
/// empty range and for one that goes past the last row.
Table select_rows(Table table, const std::string& range);

/// Any supported file, told apart by content: NPY, or text (see parse_text). "-" reads standard input.
Table read_table(const std::string& path);

/// Writes CSV: a header row, then numbers in the shortest form that reads back to the same double; NaN is
/// "NaN".
void write_csv(const std::string& path, const Table& table);

}  // namespace kolmo
