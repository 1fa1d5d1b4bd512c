#include "kolmo/flow/analysis/estimates.hpp"

#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>

#include "kolmo/flow/analysis/variables.hpp"
#include "kolmo/flow/estimate/analytic_test.hpp"
#include "kolmo/flow/estimate/entropy.hpp"
#include "kolmo/flow/estimate/neighbors.hpp"
#include "kolmo/flow/infer/choose_embedding.hpp"
#include "kolmo/flow/infer/pairwise_search.hpp"
#include "kolmo/flow/infer/prepare.hpp"
#include "kolmo/flow/request/settle.hpp"
#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/flow/result/local_table.hpp"
#include "kolmo/flow/result/network_json.hpp"
#include "kolmo/flow/test/inspect_test.hpp"
#include "kolmo/flow/test/inspect_value.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo {
namespace {

using Json = nlohmann::ordered_json;

/// Measures the time of an estimate, and shows on the terminal how far it is.
class Clock {
 public:
  Clock(std::string what, const Session& session) : session_(session) {
    if (session.terminal) elapsed_.emplace(std::move(what));
  }
  /// Estimates, and tells the share done where it is known before the end.
  Estimates estimate(const Series& series, const EstimationTask& task, const EstimatorOptions& options,
                     const Streams& streams) {
    if (!estimates_in_parts(task, options, streams[0].device()) || !(session_.terminal || session_.progress))
      return kolmo::estimate(series, task, options, streams);
    elapsed_.reset();
    Progress progress(double(task.x.size()) * double(1 + options.surrogates), "estimates", session_.progress);
    return kolmo::estimate(series, task, options, streams, &progress);
  }
  double stop() {
    elapsed_.reset();
    return std::chrono::duration<double>(Steady::now() - begin_).count();
  }

 private:
  using Steady = std::chrono::steady_clock;

  const Session& session_;
  std::optional<ElapsedTime> elapsed_;
  Steady::time_point begin_ = Steady::now();
};

Coordinates present(std::span<const std::int32_t> variables) {
  Coordinates c;
  for (const std::int32_t v : variables) c.push_back({v, 0});
  return c;
}

/// Warns if there are few different surrogates. The options are settled.
void warn_if_few(const EstimatorOptions& e, const AnalysisRequest& request, Session& session,
                 const Series& series, std::span<const std::int64_t> times) {
  if (!e.surrogates) return;
  const std::int64_t different = different_surrogates(series, times, e, e.surrogates);
  if (const auto few = few_surrogates(different, e, e.surrogates)) session.warn({*few}, request);
}

std::string test_of(const Estimates& e, const EstimationTask& task) {
  if (!e.p_values.empty()) return std::string(analytic_test(task.x[0].size(), task.y.size()));
  return e.draws.surrogates() ? "surrogates" : "";
}

/// "circular surrogates, shifted by 5 rows or more": the method and its parameter.
std::string made(const EstimatorOptions& e) {
  std::string name = std::string(surrogate_method_names[std::size_t(e.surrogate_type)]) + " surrogates";
  if (e.surrogate_type == SurrogateMethod::circular)
    return name + ", shifted by " + std::to_string(e.min_shift) + " rows or more";
  if (e.surrogate_type == SurrogateMethod::block)
    return name + " of " + std::to_string(e.block_length) + " rows";
  return name;
}

/// What every result has, besides its value.
template <class R>
EstimateResult result_of(std::string measure, std::string of, const R& request, const EstimatorOptions& e,
                         Session& session, const Series& series, const Streams& streams) {
  EstimateResult r;
  r.measure = std::move(measure), r.of = std::move(of);
  r.p_value = r.surrogates.mean = r.surrogates.deviation = std::nan("");
  r.sets = series.sets, r.missing_rows = series.missing_rows, r.time = session.rows().time;
  R used = request;
  used.estimator = e;
  r.options = [used] { return options_json(used); };
  r.reading = session.reading, r.file = session.table.file;
  r.device = streams.text(), r.threads = streams.threads();
  r.factor = request.factor(), r.units = unit_names[std::size_t(request.units)];
  return r;
}

/// The row of the file that is row 0 of the table.
std::int64_t first_row(const AnalysisRequest& r) {
  std::int64_t start = 0;  // the session has checked the rows; START may be left out
  std::from_chars(r.rows.data(), r.rows.data() + r.rows.size(), start);
  return start;
}

void add_local(EstimateResult& result, const EstimateRequest& request, const Session& session,
               const Series& series, const EstimationTask& task, const Streams& streams) {
  if (request.local.empty()) return;
  const Table& table = session.table;
  const std::optional<TimeStep> step = session.time_step(request.dt, request.dt_unit);
  LocalTable how{first_row(request),
                 std::int64_t(table.rows()) - series.rows(),
                 request.local_window.value_or(0),
                 request.factor(),
                 result.units,
                 step,
                 table.file_row,
                 {},
                 session.rows().trial_names};
  if (!request.dt) how.times = table.times;
  const std::vector<double> values =
      streams.on_one([&](Stream& stream) { return local_values(series, task, request.estimator, stream); });
  result.local_path = request.local;
  result.local = request.local_over_trials ? local_over_trials_csv(series, task.times, values, how)
                                           : local_table_csv(series, task.times, values, how);
  result.roles["local"] = request.local;
  if (request.local_window) result.roles["local_window"] = *request.local_window;
  if (request.local_over_trials) result.roles["local_over_trials"] = true;
  if (step) result.roles["dt"] = step->step, result.roles["dt_unit"] = step->unit;
}

void warn_if_infinite(const EstimateResult& r, const Series& series, const EstimationTask& task,
                      std::size_t alternative, const AnalysisRequest& request, const EstimatorOptions& e,
                      Session& session) {
  const std::string why = why_infinite(series, task, alternative, r.value, e);
  if (!why.empty()) session.warn({{"infinite", printable(r.of) + ": " + why}}, request);
}

void finish(EstimateResult& r, const TestedRequest& request, const EstimatorOptions& e, Session& session,
            const Streams& streams) {
  session.note_losses(streams);
  r.p_at_floor = p_at_floor(r.p_value, r.surrogate_count, request.p_value);
  r.p_value_formula = p_value_formula(request.p_value);
  if (r.surrogate_count) r.surrogates_made = made(e);
  r.warnings = session.warnings, r.notes = session.notes;
}

/// The request with the neighbours that are used.
template <class R>
R with_neighbors(const R& asked, std::size_t rows, std::size_t columns, Session& session) {
  R request = asked;
  request.estimator = kolmo::with_neighbors(asked.estimator, std::int64_t(rows), std::int64_t(columns));
  session.note_neighbors(request.estimator);
  return request;
}

/// Puts the lags that source_lags and target_lags name in place of the embeddings, and the rows that reach back far enough.
void take_named_lags(EstimationTask& task, const TransferEntropyRequest& request, const Coordinates& given,
                     const Series& series) {
  const auto values = [](std::int32_t variable, const std::string& lags, const char* option,
                         std::int64_t least) {
    Coordinates all;
    for (const std::int64_t lag : lags_of(lags, option)) {
      if (lag >= least) all.push_back({variable, lag});
    }
    return all;
  };
  if (!request.source_lags.empty())
    task.x[0] = values(task.x[0][0].variable, request.source_lags, "--source-lags", 0);
  if (!request.target_lags.empty()) {
    task.z = values(task.y[0].variable, request.target_lags, "--target-lags", 1);
    task.z.insert(task.z.end(), given.begin(), given.end());
  }
  if (request.source_lags.empty() && request.target_lags.empty() && !request.reach) return;
  std::int64_t furthest = std::max(request.reach, reach(task.z));
  for (const Coordinates& x : task.x) furthest = std::max(furthest, reach(x));
  task.times = embeddable(series, furthest);
}

/// The task of a link, with all rows in which every variable of the series is embedded.
EstimationTask task_of(const TransferEntropyRequest& request, const NetworkOptions& n, std::int32_t source,
                       const TargetResult& embedded, const Series& series) {
  EstimationTask task = link_task(series, n, embedded, {&source, 1});
  task.times = embeddable(series, network_reach(n, embedded.embedding));
  take_named_lags(task, request, n.given, series);
  return task;
}

template <class R>
EstimateResult measure(const std::string& name, const std::string& what, const EstimationTask& whole,
                       Json roles, const R& asked, Session& session, const Series& series,
                       const Streams& streams) {
  EstimationTask task = whole;
  task.times = tested_times(series, whole.times, asked.estimator);
  const std::size_t columns = task.x[0].size() + task.y.size() + task.z.size();
  const R request = with_neighbors(asked, task.times.size(), columns, session);
  session.warn(trials_cut(task.times.size(), whole.times.size()), request);
  EstimatorOptions observed = request.estimator;
  observed.surrogates = 0;
  check_task(series, task, observed);
  const EstimatorOptions used = settled(request.estimator, series, {&task, 1});
  warn_if_few(used, request, session, series, task.times);
  Clock clock(name, session);
  const Estimates e = clock.estimate(series, task, used, streams);
  const auto surrogates = e.surrogate(0);
  EstimateResult r = result_of(name, what, request, used, session, series, streams);
  r.roles = std::move(roles);
  add_local(r, request, session, series, task, streams);
  r.value = e.observed(0), r.samples = std::int64_t(task.times.size()), r.seconds = clock.stop();
  r.p_value = e.p_values.empty() ? p_value(e.observed(0), surrogates, request.p_value) : e.p_values[0];
  r.test = test_of(e, task), r.surrogate_count = e.different[0], r.surrogates = summarize(surrogates);
  warn_if_infinite(r, series, task, 0, request, used, session);
  session.warn(inspect_estimator(series, task, 0, used), request);
  finish(r, request, used, session, streams);
  return r;
}

}  // namespace

EstimateResult analyse(const EntropyRequest& asked, Session& session, const Streams& streams) {
  session.prepare(asked);
  Variables v(session.table);
  const auto x = v.add(asked.x);
  const Series series = session.series(v.columns(), asked);
  const std::vector<std::int64_t> rows = embeddable(series, 0);
  const EntropyRequest request = with_neighbors(asked, rows.size(), x.size(), session);
  Clock clock("entropy", session);
  const double value =
      streams.on_one([&](Stream& stream) { return entropy(series, present(x), request.estimator, stream); });
  EstimateResult r = result_of("entropy", v.labels(x), request, request.estimator, session, series, streams);
  r.value = value, r.samples = std::int64_t(rows.size()), r.seconds = clock.stop();
  r.roles = {{"x", request.x.text}};
  r.warnings = session.warnings, r.notes = session.notes;
  return r;
}

EstimateResult analyse(const MutualInformationRequest& request, Session& session, const Streams& streams) {
  require(!request.x.empty() && !request.y.empty(),
          "mi: needs --x and --y; --all-pairs takes every pair of columns instead");
  session.prepare(request);
  Variables v(session.table);
  const auto x = v.add(request.x), y = v.add(request.y), given = v.add(request.given);
  const Series series = session.series(v.columns(), request);
  EstimationTask task{series.file + ": mi", {present(x)}, present(y), present(given), {}, {0}};
  task.times = times_of(series, task);
  Json roles{{"x", request.x.text}, {"y", request.y.text}};
  if (!given.empty()) roles["given"] = request.given.text;
  session.warn(inspect_analytic_test(series, task, request.estimator), request);
  return measure("mi", v.labels(x) + "; " + v.labels(y) + (given.empty() ? "" : " | " + v.labels(given)),
                 task, std::move(roles), request, session, series, streams);
}

EstimateResult analyse(const StorageRequest& request, Session& session, const Streams& streams) {
  session.prepare(request);
  Variables v(session.table);
  const std::int32_t x = v.add_one(request.x, "--x");
  const Series series = session.series(v.columns(), request);
  Json roles{{"x", request.x.text}, {"history", request.past.history}, {"tau", request.past.tau}};
  return measure("ais", v.label(x), storage_task(series, x, request.past), std::move(roles), request, session,
                 series, streams);
}

EstimateResult analyse(const TransferEntropyRequest& wanted, Session& session, const Streams& streams) {
  session.prepare(wanted);
  NetworkOptions asked = network_options(wanted);
  Variables v(session.table);
  const std::int32_t source = v.add_one(wanted.source_column, "--source"),
                     target = v.add_one(wanted.target_column, "--target");
  require(source != target, "te: source and target are the same column");
  asked.variables = {source, target};
  asked.given = conditions(wanted.given, v, asked.variables);
  v.add(wanted.complete);
  const Series series = session.series(v.columns(), wanted);
  const auto named = [](const std::string& lags, const char* option, std::int64_t history) {
    return lags.empty() ? std::size_t(history) : lags_of(lags, option).size();
  };
  const std::size_t columns = 1 + named(wanted.source_lags, "--source-lags", asked.source.history) +
                              named(wanted.target_lags, "--target-lags", asked.target.history) +
                              asked.given.size();
  const EstimationTask longest =
      task_of(wanted, asked, source, {target, longest_embedding(asked), 0, 0}, series);
  const std::size_t samples = tested_times(series, longest.times, asked.estimator).size();
  const auto request = with_neighbors(wanted, samples, columns, session);
  asked.estimator = request.estimator;
  const PreparedNetwork prepared = prepare_network(series, asked);
  const NetworkOptions& n = prepared.options;
  EstimatorOptions used = n.estimator;
  used.min_shift = prepared.shifts.of(source, target);
  Clock clock("te", session);
  const TargetResult embedded = streams.on_one([&](Stream& stream) {
    return choose_embeddings(series, n, {&target, 1}, stream)[0];
  });
  EstimationTask task = task_of(request, n, source, embedded, series);
  const std::size_t whole = task.times.size();
  task.times = tested_times(series, std::move(task.times), used);
  check_task(series, task, request.estimator);
  session.warn(trials_cut(task.times.size(), whole), request);
  warn_if_few(used, request, session, series, task.times);
  const Estimates e = clock.estimate(series, task, used, streams);
  const LinkResult link = link_of(n, source, target, 0, e);
  const auto best = std::size_t(link.lag - n.min_lag);

  EstimateResult r = result_of("te",
                               v.label(source) + " -> " + v.label(target) +
                                   (request.given.empty() ? "" : " | " + printable(request.given.text)),
                               request, used, session, series, streams);
  r.roles = {{"source", request.source_column.text}, {"target", request.target_column.text}};
  if (!request.given.empty()) r.roles["given"] = request.given.text;
  if (!request.complete.empty()) r.roles["complete"] = request.complete.text;
  for (const auto& [name, lags] :
       {std::pair("source_lags", &request.source_lags), {"target_lags", &request.target_lags}})
    if (!lags->empty()) r.roles[name] = *lags;
  r.roles["embedding"] = embedding_rule_names[std::size_t(n.embedding)];
  r.roles.update(Json{{"target_history", embedded.embedding.history},
                      {"target_tau", embedded.embedding.tau},
                      {"source_history", n.source.history},
                      {"source_tau", n.source.tau},
                      {"lag", link.lag}});
  if (n.lags() > 1) {
    r.roles["max_lag"] = n.max_lag;
    for (const double value : link.profile) r.roles["profile"].push_back(value * request.factor());
  }
  add_local(r, request, session, series,
            {task.name, {task.x[best]}, task.y, task.z, task.times, {task.streams[best]}}, streams);
  r.value = link.value, r.samples = std::int64_t(task.times.size()), r.seconds = clock.stop();
  warn_if_infinite(r, series, task, best, request, used, session);
  session.warn(inspect_estimator(series, task, best, used), request);
  r.p_value = link.p_value, r.test = test_of(e, task);
  r.surrogate_count = link.surrogate_count, r.surrogates = link.surrogates;
  finish(r, request, used, session, streams);
  return r;
}

Json estimate_json(const EstimateResult& r) {
  Json j{{"measure", r.measure},
         {"value", r.value * r.factor},
         {"units", r.units},
         {"samples", r.samples},
         {"p_value", r.p_value},
         {"p_at_floor", r.p_at_floor},
         {"test", r.test.empty() ? Json() : Json(r.test)},
         {"surrogates", r.surrogate_count},
         {"device", r.device},
         {"seconds", r.seconds},
         {"sets", r.sets},
         {"missing_rows", r.missing_rows}};
  if (r.time) j["time_axis"] = time_json(*r.time);
  if (r.surrogate_count) {
    j["surrogate_mean"] = r.surrogates.mean * r.factor;
    j["surrogate_std"] = r.surrogates.deviation * r.factor;
  }
  j.update(r.roles);
  j["file"] = r.file;
  for (const auto& [name, value] : r.reading) j[name] = value;
  const Json options = r.options();
  if (options.contains("p_value")) j["p_value_convention"] = r.p_value_formula;
  for (const auto& [name, value] : options.items())
    if (!j.contains(name)) j[name] = value;
  j["threads"] = r.threads;
  j["warnings"] = Json::array();
  for (const Warning& w : r.warnings) j["warnings"].push_back({{"name", w.name}, {"text", w.text}});
  return j;
}

}  // namespace kolmo
