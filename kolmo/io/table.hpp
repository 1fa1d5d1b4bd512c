#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/io/table_options.hpp"

namespace kolmo {

/// A cell without a usable number; `what` is the whole error line, "FILE:LINE:COLUMN: ...". The row `every_row` stands
/// for a column of which no cell holds a number.
struct Fault {
  static constexpr auto every_row = std::size_t(-1);

  std::size_t row;
  std::string what;
};

/// A remark about a table that may have been meant otherwise. The name is that of a warning.
struct Remark {
  std::string name, text;
};

/// Series in columns: columns[c][t] is variable c at row t, NaN if missing. A cell that is neither a finite
/// number nor missing is recorded as a fault of its column. It is thrown only if that column is used, so that
/// a column of dates does not make the other columns unusable.
struct Table {
  /// The largest number of faults stored per column. The first one within the used rows is thrown.
  static constexpr std::size_t max_faults = 64;

  std::string file;
  std::vector<std::string> names;  // from the header; "0", "1", ... without one
  std::vector<std::vector<double>> columns;
  std::vector<std::vector<Fault>> faults;  // per column
  bool named = false;                      // the file has a header
  std::vector<bool> made_up{};  // for each column, whether its name is for messages only; empty: for none
  std::vector<std::int32_t> trial{};  // number of each row's trial, from 0; empty: one recording
  std::vector<Remark> remarks{};

  std::size_t rows() const { return columns.empty() ? 0 : columns[0].size(); }
};

/// The name of a column in messages: its header, or "column 3" without one.
std::string column_label(const Table& table, std::size_t column);

/// Finds the columns that `spec` lists, in its order: 0-based indices, ranges of them such as 3-40 (40
/// included) or header names, comma-separated. A name that contains a comma or reads like an index or a range
/// is put in double quotes (with "" for a quote inside). An empty spec means all columns. Those that
/// `excluded` lists are left out. Throws InvalidArgument for an unknown column, naming those that exist, for
/// one that is repeated or ambiguous, if two chosen columns have one name, if no column is left, and for the
/// first cell of a chosen column that is not a number.
std::vector<std::size_t> select_columns(const Table& table, const std::string& spec,
                                        const std::string& excluded = "");

/// Keeps the rows START to END - 1, 0-based, for "START:END"; either end may be omitted. Throws
/// InvalidArgument for an empty range and for one that goes past the last row.
Table select_rows(Table table, const std::string& range);

/// Reads any supported file, recognised by content: NPY, text (see parse_text), or either packed by gzip. "-"
/// reads standard input.
Table read_table(const std::string& path, const TableOptions& options = {});

/// Writes CSV: a header row, then numbers in the shortest form that reads back to the same double; NaN is
/// "NaN". Names are cells as csv_cell makes them.
void write_csv(const std::string& path, const Table& table);

}  // namespace kolmo
