#include "kolmo/flow/analysis/session.hpp"

#include "kolmo/flow/data/fill_values.hpp"
#include "kolmo/flow/data/ordinal.hpp"
#include "kolmo/flow/estimate/inspect_series.hpp"
#include "kolmo/flow/estimate/neighbors.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo {

void Session::prepare(const AnalysisRequest& request) {
  std::vector<Warning> found;
  for (const Remark& r : table.remarks) found.push_back({r.name, r.text});
  warn(found, request);
  if (!request.rows.empty()) table = select_rows(std::move(table), request.rows);
  rows_ = arrange_rows(table, request);
  for (const std::string& text : rows_.notes) note(text);
  warn(rows_.warnings, request);
}

std::optional<TimeStep> Session::time_step(const std::optional<double>& dt, const std::string& unit) const {
  if (dt) return TimeStep{*dt, unit};
  if (!rows_.time || !rows_.time->step) return {};
  const std::string& own = rows_.time->unit;
  const std::string& name = !unit.empty() ? unit : !own.empty() ? own : rows_.time->name;
  if (name.empty()) return {};  // an index without a unit
  return TimeStep{*rows_.time->step, name};
}

Series Session::series(std::span<const std::size_t> columns, const AnalysisRequest& r) {
  Preparation preparation = r.preparation;
  if (r.estimator.estimator != Estimator::ksg) preparation.noise = 0;  // no other uses it
  Series s = make_series(table, columns, preparation);
  if (s.missing_rows)
    note(table.file + ": " + std::to_string(s.missing_rows) +
         " rows with missing values; an estimate uses the rows in which all variables that may enter it have "
         "values");
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

void Session::note_neighbors(const EstimatorOptions& o) {
  if (o.neighbors_chosen) note(neighbors_note(o));
}

void Session::note_losses(const Streams& streams) {
  for (const Streams::Loss& loss : streams.losses())
    note(to_string(loss.device) + " was lost, and other devices did its work: " + loss.why);
}

}  // namespace kolmo
