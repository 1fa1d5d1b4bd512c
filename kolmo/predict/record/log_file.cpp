#include "kolmo/predict/record/log_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "kolmo/base/error.hpp"
#include "kolmo/base/number_text.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/npy.hpp"
#include "kolmo/io/text_reader.hpp"
#include "kolmo/predict/record/event_files.hpp"
#include "kolmo/predict/record/json_lines.hpp"

namespace kolmo::predict {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Whether a column is called "RUN - so".
bool is_of_run(std::string_view column, std::string_view name) {
  return column.ends_with(name) && column.substr(0, column.size() - name.size()).ends_with(" - ");
}

/// The columns that are called so, or "RUN - so".
std::vector<std::size_t> columns_called(const Table& table, std::string_view name) {
  std::vector<std::size_t> exact, of_runs;
  for (std::size_t c = 0; c < table.names.size(); ++c) {
    if (table.names[c] == name) exact.push_back(c);
    if (is_of_run(table.names[c], name)) of_runs.push_back(c);
  }
  return exact.empty() ? of_runs : exact;
}

std::string listed(const Table& table) {
  std::string text;
  for (std::size_t c = 0; c < table.names.size() && c < 30; ++c)
    text += (c ? ", " : "") + printable(table.names[c]);
  return text;
}

std::optional<std::size_t> find(const Table& table, const LogNames& names, const LogColumns& columns) {
  const std::string& given = columns.*names.column;
  const std::string option =
      "--" + std::string(names.names[0] == "gradient_norm" ? "gradient-norm" : names.names[0]);
  std::vector<std::size_t> found;
  if (!given.empty()) {
    found = columns_called(table, given);
    require(!found.empty(), table.file + ": there is no column '" + printable(given) + "' (" + option +
                                "); its columns are " + listed(table));
  } else {
    for (const std::string_view name : names.names)
      if (found.empty()) found = columns_called(table, name);
    if (found.empty()) return std::nullopt;
  }
  require(found.size() == 1, table.file + ": several columns may be " + option + ": '" +
                                 printable(table.names[found[0]]) + "' and '" +
                                 printable(table.names[found.back()]) + "'; name one by " + option);
  return found[0];
}

void check(const Table& table, std::size_t column) {
  if (!table.faults.empty() && !table.faults[column].empty())
    fail<InvalidArgument>(table.faults[column][0].what);
}

std::string place(const Table& table, std::size_t row, std::size_t column) {
  return table.file + ": row " + std::to_string(row + 1) + ", column " + column_label(table, column) + ": ";
}

std::int64_t step_of(const Table& table, std::size_t row, std::size_t column) {
  const double value = table.columns[column][row];
  require(value >= 0 && value < 0x1p53 && value == std::floor(value),
          place(table, row, column) + number_text(value) + " is no step; steps are whole numbers from 0 on");
  return std::int64_t(value);
}

/// The row of a step that a further row belongs to: the last one, or for one that came late, with no loss, one before. Null: none.
LogRow* row_to_join(std::vector<LogRow>& rows, std::int64_t step, bool without_loss) {
  auto row = rows.rbegin();
  while (without_loss && row != rows.rend() && row->step > step) ++row;
  return row != rows.rend() && row->step == step ? &*row : nullptr;
}

/// The rows whose step is below that of the row before.
class Returns {
 public:
  void add(std::size_t row, std::int64_t from, std::int64_t to) {
    if (!count_++) first_ = {row, from, to};
    last_ = {row, from, to};
  }
  /// Notes them, or throws for steps that are in no order.
  void tell(const Table& table, std::size_t column, LogRows& to) const {
    if (!count_) return;
    const auto went = [&](const Return& r) {
      return place(table, r.row, column) + "the step goes back from " + std::to_string(r.from) + " to " +
             std::to_string(r.to);
    };
    const std::size_t rows = to.rows.size();
    require(count_ == 1 || rows >= 4 * (count_ + 1),
            went(first_) + ", as in " + std::to_string(count_) + " of " + std::to_string(rows) +
                " rows; sort the rows by step, or leave out those of other processes");
    const std::int64_t least =
        std::min_element(to.rows.begin(), to.rows.begin() + std::ptrdiff_t(rows), [](auto& a, auto& b) {
          return a.step < b.step;
        })->step;
    to.notes.push_back(
        went(last_) + (count_ > 1 ? ", the last of " + std::to_string(count_) + " times" : "") +
        (last_.to <= least
             ? ": the training began anew there, and no row before counts; rows of another run belong in a "
               "file of their own"
             : ": the training went on from a checkpoint there, and what was known of the steps from " +
                   std::to_string(last_.to) + " on does not count"));
  }

 private:
  struct Return {
    std::size_t row;
    std::int64_t from, to;
  };
  std::size_t count_ = 0;
  Return first_{}, last_{};
};

/// Whether find() may choose a column of this name.
bool may_be_used(std::string_view column, const LogColumns& columns) {
  const auto called = [&](std::string_view name) { return column == name || is_of_run(column, name); };
  return std::any_of(log_names().begin(), log_names().end(), [&](const LogNames& names) {
    const std::string& given = columns.*names.column;
    return given.empty() ? std::any_of(names.names.begin(), names.names.end(), called) : called(given);
  });
}

CellFormat cells_of(const LogColumns& columns) {
  const bool comma = columns.decimal == DecimalMark::comma;
  return {comma ? ',' : '.', missing_marks(columns.na, comma ? ';' : ','), true};
}

/// Reads text without a last line that has no line end.
Table read_growing_text(ByteReader& bytes, const std::string& label, const TableOptions& options) {
  const std::string text = bytes.rest(label);
  const std::size_t end = text.rfind('\n') + 1;  // 0: there is one line
  if (!end || text.find_first_not_of(" \t\r", end) == text.npos) return parse_text(text, label, options);
  Table table = parse_text(std::string_view(text).substr(0, end), label, options);
  const auto lines = std::count(text.begin(), text.end(), '\n');
  table.remarks.push_back(cut_line(label + ":" + std::to_string(lines + 1)));
  return table;
}

/// `grows`: a training may be writing the file.
Table read(const std::string& path, const LogColumns& columns, bool grows) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return read_event_files(path, [&](std::string_view tag) { return may_be_used(tag, columns); });
  if (is_json_lines(path)) return read_json_lines(path, cells_of(columns));
  TableOptions options;
  options.cells = cells_of(columns);
  if (!grows || path.ends_with(".npy")) return read_table(path, options);
  ByteReader bytes = open_bytes(path);
  const std::string label = file_label(path);
  return is_npy(std::as_bytes(std::span(bytes.peek(npy_magic_bytes))))
             ? read_npy_table(bytes, label, options)
             : read_growing_text(bytes, label, options);
}

}  // namespace

const std::vector<LogNames>& log_names() {
  static const std::vector<LogNames> all{
      {&LogColumns::step,
       nullptr,
       {"step", "Step", "_step", "global_step", "trainer/global_step", "iteration", "iter"}},
      {&LogColumns::loss, &LogRow::loss, {"loss", "train_loss", "train/loss", "training_loss", "loss/train"}},
      {&LogColumns::gradient_norm, &LogRow::gradient_norm, {"gradient_norm", "grad_norm", "train/grad_norm"}},
      {&LogColumns::rate, &LogRow::rate, {"rate", "lr", "learning_rate", "train/learning_rate", "train/lr"}},
      {&LogColumns::validation,
       &LogRow::validation,
       {"validation", "val_loss", "eval_loss", "validation_loss", "val/loss", "eval/loss"}},
      {&LogColumns::averaged, &LogRow::averaged, {"averaged", "averaged_loss"}}};
  return all;
}

LogRows rows_of(const Table& table, const LogColumns& columns) {
  std::optional<std::size_t> at[6];
  for (std::size_t i = 0; i < 6; ++i) {
    at[i] = find(table, log_names()[i], columns);
    if (at[i]) check(table, *at[i]);
  }
  require(at[1].has_value(), table.file + ": no column is called loss; its columns are " + listed(table) +
                                 "; name one by --loss");
  LogRows all;
  for (const Remark& remark : table.remarks) all.notes.push_back(remark.text);
  std::vector<LogRow>& rows = all.rows;
  Returns returns;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    if (at[0] && std::isnan(table.columns[*at[0]][r])) continue;
    LogRow row;
    row.step = at[0] ? step_of(table, r, *at[0]) : std::int64_t(r) + 1;
    LogRow* const same = row_to_join(rows, row.step, std::isnan(table.columns[*at[1]][r]));
    if (same) row = *same;
    bool any = false;
    for (std::size_t i = 1; i < 6; ++i) {
      if (!at[i]) continue;
      double value = table.columns[*at[i]][r];
      if (value == -infinity) value = i == 1 ? infinity : unknown;  // was NaN: no finite loss, or not known
      if (std::isnan(value)) continue;
      row.*log_names()[i].value = value, any = true;
      if (i == 3)
        require(value >= 0 && std::isfinite(value), place(table, r, *at[i]) + number_text(value) +
                                                        " is no rate; rates are 0 or positive, and finite");
    }
    if (same) {
      *same = row;
    } else if (any) {
      if (!rows.empty() && row.step < rows.back().step) returns.add(r, rows.back().step, row.step);
      rows.push_back(row);
    }
  }
  if (at[0]) returns.tell(table, *at[0], all);
  const bool found =
      std::any_of(rows.begin(), rows.end(), [](const LogRow& row) { return !std::isnan(row.loss); });
  require(found, table.file + ": column " + column_label(table, *at[1]) + " holds no loss");
  return all;
}

LogRows read_log_rows(const std::string& path, const LogColumns& columns) {
  return rows_of(read(path, columns, true), columns);
}

TrainingLog log_of(const LogRows& rows, std::int64_t length) {
  TrainingLog log = log_of(std::span(rows.rows), length);
  for (const std::string& note : rows.notes) log.note(note);
  return log;
}

void write_log(const std::string& path, const TrainingLog& log) {
  std::vector<const LogNames*> known;
  for (const LogNames& names : log_names())
    if (names.value && std::any_of(log.rows().begin(), log.rows().end(),
                                   [&](const LogRow& r) { return !std::isnan(r.*names.value); }))
      known.push_back(&names);
  const bool lines = path.ends_with(".jsonl");
  std::string text = lines ? "" : "step";
  if (!lines) {
    for (const LogNames* names : known) text += "," + std::string(names->names[0]);
    text += "\n";
  }
  for (const LogRow& row : log.rows()) {
    text += (lines ? "{\"step\": " : "") + std::to_string(row.step);
    for (const LogNames* names : known) {
      const double value = row.*names->value;
      const std::string number = std::isnan(value) ? "" : std::isinf(value) ? "Infinity" : number_text(value);
      if (!lines)
        text += "," + number;
      else if (!number.empty())
        text += ", \"" + std::string(names->names[0]) + "\": " + number;
    }
    text += lines ? "}\n" : "\n";
  }
  write_file(path, text);
}

std::vector<double> read_rates(const std::string& path, std::int64_t last, const LogColumns& columns) {
  const Table table = read(path, columns, false);
  const std::optional<std::size_t> step = find(table, log_names()[0], columns);
  std::optional<std::size_t> rate = find(table, log_names()[3], columns);
  if (!rate && table.columns.size() == 1) rate = 0;
  require(rate.has_value(), table.file + ": no column is called rate; its columns are " + listed(table) +
                                "; name one by --rate");
  check(table, *rate);
  if (step) check(table, *step);
  std::vector<double> rates;
  std::int64_t next = 0;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    const double value = table.columns[*rate][r];
    const std::string what = std::isnan(value)
                                 ? "there is none"
                                 : number_text(value == -infinity ? unknown : value) + " is no rate";
    require(value >= 0 && std::isfinite(value),
            place(table, r, *rate) + what + "; rates are 0 or positive, and finite");
    if (step) {
      const std::int64_t at = step_of(table, r, *step);
      require(r == 0 ? at <= last + 1 : at == next,
              place(table, r, *step) + "the step is " + std::to_string(at) +
                  (r == 0 ? ", but the log ends with step " + std::to_string(last)
                          : ", but " + std::to_string(next) + " comes next") +
                  "; a plan has a rate for each step to come");
      next = at + 1;
      if (at <= last) continue;
    }
    rates.push_back(value);
  }
  require(!rates.empty(),
          table.file + ": has no rate of a step after " + std::to_string(last) + ", the last one of the log");
  return rates;
}

}  // namespace kolmo::predict
