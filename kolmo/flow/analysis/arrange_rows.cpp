#include "kolmo/flow/analysis/arrange_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "kolmo/io/cell.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo {
namespace {

[[noreturn]] void fail_at(const Table& t, std::size_t row, std::size_t column, const std::string& what) {
  fail<InvalidArgument>(t.file + ": row " + std::to_string(row) + ", " + column_label(t, column) + ": " +
                        what);
}

std::size_t one_column(const Table& t, const std::string& name, const char* option) {
  std::vector<std::size_t> named;
  try {
    named = find_columns(t, name);
  } catch (const InvalidArgument& e) {
    fail<InvalidArgument>(std::string(option) + ": " + e.what());
  }
  require(named.size() == 1, std::string(option) + ": takes one column, not '" + printable(name, 200) + "'");
  return named[0];
}

/// The labels of a column, numbered as they are met.
std::vector<std::int32_t> labels_of(const Table& t, std::size_t column) {
  std::vector<std::int32_t> all;
  const auto text = t.texts.find(column);
  if (text == t.texts.end()) {
    std::map<double, std::int32_t> known;
    for (std::size_t r = 0; r < t.rows(); ++r) {
      const double x = t.columns[column][r];
      if (std::isnan(x)) fail_at(t, r, column, "the trial is missing");
      all.push_back(known.emplace(x, std::int32_t(known.size())).first->second);
    }
    return all;
  }
  if (!text->second.has_words())
    fail<InvalidArgument>(t.file + ": " + column_label(t, column) + ": more than " +
                          std::to_string(TextColumn::most_words) + " different trials");
  std::map<std::string, std::int32_t> known;
  for (std::size_t r = 0; r < t.rows(); ++r) {
    const std::string& label = text->second.label(r);
    if (label.empty()) fail_at(t, r, column, "the trial is missing");
    all.push_back(known.emplace(label, std::int32_t(known.size())).first->second);
  }
  return all;
}

/// The texts that a column names the numbered trials by; none if it holds numbers.
std::vector<std::string> names_of_trials(const Table& t, std::size_t column) {
  std::vector<std::string> names;
  const auto text = t.texts.find(column);
  for (std::size_t r = 0; text != t.texts.end() && r < t.rows(); ++r)
    if (std::size_t(t.trial[r]) == names.size()) names.push_back(text->second.label(r));
  return names;
}

/// The row at which a trial goes on after rows of another.
std::optional<std::size_t> first_return(std::span<const std::int32_t> trial) {
  std::int32_t next = 0;  // trials are numbered as they are met
  for (std::size_t r = 0; r < trial.size(); ++r) {
    if (trial[r] < next && trial[r] != trial[r - 1]) return r;
    next = std::max(next, trial[r] + 1);
  }
  return {};
}

/// Whether trials take turns row by row, all equally often.
bool take_turns(std::span<const std::int32_t> trial) {
  const std::size_t trials = std::size_t(*std::max_element(trial.begin(), trial.end())) + 1;
  if (trial.size() % trials) return false;
  for (std::size_t r = 0; r < trial.size(); ++r)
    if (std::size_t(trial[r]) != r % trials) return false;
  return true;
}

/// Numbers the trials as they are met.
void number_trials(Table& t) {
  std::map<std::int32_t, std::int32_t> known;
  for (std::int32_t& trial : t.trial) trial = known.emplace(trial, std::int32_t(known.size())).first->second;
}

void put_trials_together(Table& t, bool timed, ArrangedRows& rows) {
  number_trials(t);
  const auto returns = first_return(t.trial);
  if (!returns) return;
  if (!timed && !take_turns(t.trial))
    fail<InvalidArgument>(
        fmt::format("{}: trials: row {}: the trial was met before; its rows must follow each other, unless "
                    "--time names the column that orders them",
                    t.file, *returns));
  std::vector<std::size_t> order(t.rows());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return t.trial[a] < t.trial[b]; });
  t = take_rows(std::move(t), order);
  rows.notes.push_back(t.file +
                       ": rows of trials alternate; those of each trial were put together in their order");
}

/// The column of dates, if there is exactly one and the data came without times.
std::optional<std::size_t> only_dates(const Table& t, ArrangedRows& rows) {
  std::vector<std::size_t> found;
  for (const auto& [c, text] : t.texts)
    if (text.is_date() && std::find(rows.columns.begin(), rows.columns.end(), c) == rows.columns.end())
      found.push_back(c);
  if (found.size() > 1)
    rows.notes.push_back(t.file + ": " + column_label(t, found[0]) + " and " + column_label(t, found[1]) +
                         " hold dates; --time says which of them orders the rows");
  if (found.size() != 1) return {};
  return found[0];
}

RowTimes times_in(const Table& t, std::size_t column) {
  RowTimes times{t.names[column]};
  if (const auto text = t.texts.find(column); text != t.texts.end()) {
    if (!text->second.is_date())
      fail<InvalidArgument>(
          t.file + ": " + column_label(t, column) +
          ": --time takes ISO dates (2026-11-29, 2026-11-29T12:30) or numbers, in every row");
    times.dates = text->second.dates();
  } else {
    times.numbers = t.columns[column];
  }
  return times;
}

/// Finds the times of the rows, as they stand in the table.
void find_times(Table& t, const AnalysisRequest& request, ArrangedRows& rows) {
  if (request.time.text == "none") {
    t.times.reset();
    return;
  }
  std::optional<std::size_t> column;
  if (!request.time.empty()) {
    column = one_column(t, request.time.text, "--time");
  } else if (!t.times) {
    column = only_dates(t, rows);
    if (column)
      rows.notes.push_back(t.file + ": time is " + column_label(t, *column) +
                           ", which holds dates; --time none takes "
                           "every row as one step");
  }
  if (!column) return;
  t.times = times_in(t, *column);
  rows.columns.push_back(*column);
}

/// Marks the rows that count.
void mark_rows(Table& t, const std::string& where, ArrangedRows& rows) {
  if (where.empty()) return;
  const bool is_name = std::find(t.names.begin(), t.names.end(), where) != t.names.end();
  const std::size_t equals = is_name ? std::string::npos : where.rfind('=');
  const std::size_t column = one_column(t, where.substr(0, equals), "--where");
  rows.columns.push_back(column);
  const auto text = t.texts.find(column);
  const std::string wanted = equals == std::string::npos ? "" : where.substr(equals + 1);
  const double number = parse_cell(wanted).value;  // NaN, which equals nothing, if it is none
  t.where.assign(t.rows(), false);
  for (std::size_t r = 0; r < t.rows(); ++r) {
    const double x = t.columns[column][r];
    if (text != t.texts.end() && text->second.has_words()) {
      if (equals == std::string::npos)
        fail_at(t, r, column, "--where needs numbers, of which 0 does not count, or COLUMN=VALUE");
      t.where[r] = text->second.label(r) == wanted;
    } else if (equals != std::string::npos) {
      t.where[r] = x == number;
    } else {
      if (std::isnan(x)) fail_at(t, r, column, "--where has no value in this row");
      t.where[r] = x != 0;
    }
  }
}

}  // namespace

ArrangedRows arrange_rows(Table& t, const AnalysisRequest& request) {
  ArrangedRows rows;
  rows.columns = t.no_variables;
  if (!request.trials.empty()) {
    require(t.trial.empty(), "--trials: the array's first axis already counts trials");
    const std::size_t column = one_column(t, request.trials.text, "--trials");
    t.trial = labels_of(t, column), rows.trial_names = names_of_trials(t, column);
    rows.columns.push_back(column);
  }
  find_times(t, request, rows);
  mark_rows(t, request.where, rows);
  if (!t.trial.empty()) put_trials_together(t, t.times.has_value(), rows);
  if (!t.where.empty() && std::find(t.where.begin(), t.where.end(), true) == t.where.end())
    fail<InvalidArgument>(t.file + ": --where: no row counts" +
                          (request.where.empty() ? "" : " (" + printable(request.where, 200) + ")"));
  if (!t.times) return rows;
  rows.time = time_axis(t, rows.warnings);
  t.steps = rows.time->steps;
  if (rows.time->gaps)
    rows.notes.push_back(fmt::format("{}: {} {} of time are absent in {} {}, which end observation sets",
                                     t.file, rows.time->absent, rows.time->absent == 1 ? "step" : "steps",
                                     rows.time->gaps, rows.time->gaps == 1 ? "place" : "places"));
  if (rows.time->calendar == "weekdays")
    rows.notes.push_back(t.file + ": time counts weekdays, as no row is of a Saturday or Sunday");
  return rows;
}

}  // namespace kolmo
