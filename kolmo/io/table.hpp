#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/io/table_options.hpp"
#include "kolmo/io/text_column.hpp"

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

/// When the rows of a table were measured: dates, in microseconds since 1970, or numbers.
struct RowTimes {
  std::string name;  ///< of the column; "" of an index without a name
  std::vector<std::int64_t> dates{};
  std::vector<double> numbers{};
  std::string unit{};  ///< of numbers; "" if unknown

  std::size_t size() const { return dates.size() + numbers.size(); }
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
  std::map<std::size_t, TextColumn> texts{};  // columns that hold text
  std::optional<RowTimes> times{};            // of the rows, if the data came with them
  std::vector<std::int64_t> steps{};  // time of each row in steps since the first; empty: rows are steps
  std::vector<bool> where{};          // which rows count as the present; empty: all
  std::vector<std::size_t> no_variables{};  // columns that say something of the rows
  std::vector<std::int64_t> file_row{};     // the row of the file of each row; empty: the same

  std::size_t rows() const { return columns.empty() ? 0 : columns[0].size(); }
  /// The row of the file, or of those that were selected, that is a row here.
  std::int64_t row_of_file(std::size_t row) const {
    return file_row.empty() ? std::int64_t(row) : file_row[row];
  }
};

/// The name of a column in messages: its header, or "column 3" without one.
std::string column_label(const Table& table, std::size_t column);

/// Finds the columns that `spec` lists, in its order: 0-based indices, ranges of them such as 3-40 (40
/// included) or header names, comma-separated. A name that contains a comma or reads like an index or a range
/// is put in double quotes (with "" for a quote inside). An empty spec means all columns. Those that
/// `excluded` lists are left out, and of all columns `no_variables`. Throws InvalidArgument for an unknown column, naming those that exist, for
/// one that is repeated or ambiguous, if two chosen columns have one name, if no column is left, and for the
/// first cell of a chosen column that is not a number.
std::vector<std::size_t> select_columns(const Table& table, const std::string& spec,
                                        const std::string& excluded = "",
                                        std::span<const std::size_t> no_variables = {});

/// The columns that `spec` lists, whatever they hold; they may hold text.
std::vector<std::size_t> find_columns(const Table& table, const std::string& spec);

/// Keeps the rows START to END - 1, 0-based, for "START:END"; either end may be omitted. Throws
/// InvalidArgument for an empty range and for one that goes past the last row.
Table select_rows(Table table, const std::string& range);

/// Keeps these rows, in this order. Faults stay with their rows.
Table take_rows(Table table, std::span<const std::size_t> rows);

/// Reads any supported file, recognised by content: NPY, text (see parse_text), or either packed by gzip. "-"
/// reads standard input.
Table read_table(const std::string& path, const TableOptions& options = {});

/// Writes CSV: a header row, then numbers in the shortest form that reads back to the same double; NaN is
/// "NaN". Names are cells as csv_cell makes them.
void write_csv(const std::string& path, const Table& table);

}  // namespace kolmo
