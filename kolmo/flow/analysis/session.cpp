#include "kolmo/flow/analysis/session.hpp"

#include <cmath>
#include <map>

#include "kolmo/flow/data/fill_values.hpp"
#include "kolmo/flow/data/ordinal.hpp"
#include "kolmo/flow/estimate/inspect_series.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo {

void Session::prepare(const AnalysisRequest& request) {
  std::vector<Warning> found;
  for (const Remark& r : table.remarks) found.push_back({r.name, r.text});
  warn(found, request);
  if (!request.rows.empty()) table = select_rows(std::move(table), request.rows);
  if (!request.trials.empty()) set_trials(request.trials);
}

void Session::set_trials(const Columns& trials) {
  require(table.trial.empty(), "--trials: the array's first axis already counts trials");
  const auto chosen = select_columns(table, trials.text);
  require(chosen.size() == 1, "--trials: takes one column, not '" + printable(trials.text, 200) + "'");
  trial_column_ = chosen[0];
  const std::vector<double>& column = table.columns[chosen[0]];
  std::map<double, std::size_t> first;
  for (std::size_t t = 0; t < column.size(); ++t) {
    const bool starts = t == 0 || column[t] != column[t - 1];
    if (std::isnan(column[t]) || (starts && !first.emplace(column[t], t).second))
      fail<InvalidArgument>(
          table.file + ": row " + std::to_string(t) + ", " + column_label(table, chosen[0]) +
          (std::isnan(column[t]) ? ": the trial is missing"
                                 : ": the trial was met before; its rows must follow each other"));
    table.trial.push_back(std::int32_t(first.size()) - 1);
  }
}

Series Session::series(std::span<const std::size_t> columns, const AnalysisRequest& r) {
  Preparation preparation = r.preparation;
  if (r.estimator.estimator != Estimator::ksg) preparation.noise = 0;  // no other uses it
  Series s = make_series(table, columns, preparation);
  if (s.missing_rows)
    note(table.file + ": " + std::to_string(s.missing_rows) +
         " rows with missing values split the series into " + std::to_string(s.sets) + " sets");
  if (r.estimator.f32) note("single precision: values are 1e-5 to 4e-3 off");
  std::vector<Warning> found = inspect(s, r.estimator);
  const std::vector<Warning> raw = inspect(table, columns);
  found.insert(found.end(), raw.begin(), raw.end());
  warn(found, r);
  if (r.estimator.estimator == Estimator::ordinal) return ordinal_patterns(s, r.order, r.order_delay);
  return s;
}

void Session::warn(const std::vector<Warning>& more, const AnalysisRequest& request) {
  for (const Warning& w : more) {
    if (request.strict)
      fail<InvalidArgument>(file_label(table.file) + ": " + w.name + ": " + w.text + " (--strict)");
    if (on_warning) on_warning(w);
    warnings.push_back(w);
  }
}

void Session::note(const std::string& text) {
  if (on_note) on_note(text);
  notes.push_back(text);
}

}  // namespace kolmo
