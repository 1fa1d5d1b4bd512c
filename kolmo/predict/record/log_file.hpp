#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kolmo/io/table.hpp"
#include "kolmo/predict/record/training_log.hpp"

namespace kolmo::predict {

enum class DecimalMark : std::int32_t { point, comma };
inline constexpr std::string_view decimal_mark_names[] = {".", ","};
constexpr std::span<const std::string_view> names_of(DecimalMark) { return decimal_mark_names; }

/// The columns of a log by name. An empty name stands for the first usual name that the file has (log_names); a column without one
/// is unknown, except the loss. Without a column of steps, rows are steps 1, 2, ...
struct LogColumns {
  std::string step, loss, gradient_norm, rate, validation, averaged;
  std::string na{};  ///< texts that mean unknown, separated as missing_marks() takes them
  DecimalMark decimal = DecimalMark::point;
};

/// The rows of a log file, and notes that tell the user how they were read. Each note is a sentence that names the file.
struct LogRows {
  std::vector<LogRow> rows;
  std::vector<std::string> notes{};
};

/// The usual names of each column, the first being those that are written. A column "NAME - loss", as in what wandb exports, counts as
/// "loss", but "NAME - loss__MIN" and "__MAX" do not.
struct LogNames {
  std::string LogColumns::*column;
  double LogRow::*value;  ///< null: the step
  std::vector<std::string_view> names;
};
const std::vector<LogNames>& log_names();

/// Rows from columns of numbers. Rows without a step or with none of the values are passed over; rows of one step are joined. A step
/// that is below the one before means that the training went on from a checkpoint there, and is noted. Throws InvalidArgument, naming
/// file, row and column: for a column that is not there or that several runs have, a step that is no whole number, a rate that is
/// negative, and steps that do not ascend for 4 rows between such returns, on average.
LogRows rows_of(const Table& table, const LogColumns& columns = {});

/// Reads a log: CSV (or TSV, or columns of blanks), or JSONL with an object on each line, whose values are numbers, null, NaN or
/// Infinity, both also packed by gzip; or a folder of TensorBoard's event files. The training may be writing the file: a last line
/// without a line end is left out, and noted, unless it is a whole JSON object. Throws InvalidArgument, naming file, line and column.
LogRows read_log_rows(const std::string& path, const LogColumns& columns = {});
/// The log of these rows, with their notes.
TrainingLog log_of(const LogRows& rows, std::int64_t length = 0);
inline TrainingLog read_log(const std::string& path, const LogColumns& columns = {},
                            std::int64_t length = 0) {
  return log_of(read_log_rows(path, columns), length);
}

/// Writes a log as CSV, or for a name that ends with .jsonl as JSONL: the file is complete or not there. Columns of which nothing is
/// known are left out.
void write_log(const std::string& path, const TrainingLog& log);

/// The rates in a file, one for each step to come: a column named as that of a log's rate, or the only column. With a column of steps
/// they are of these steps, without gaps, and begin at the step after `last` or before.
std::vector<double> read_rates(const std::string& path, std::int64_t last, const LogColumns& columns = {});

}  // namespace kolmo::predict
