#include "kolmo/flow/analysis/mutual_information_matrix.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "kolmo/flow/analysis/variables.hpp"
#include "kolmo/flow/estimate/analytic_test.hpp"
#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/flow/result/network_json.hpp"
#include "kolmo/flow/test/inspect_test.hpp"
#include "kolmo/flow/test/inspect_value.hpp"

namespace kolmo {
namespace {

using Json = nlohmann::ordered_json;

/// The columns of the pairs and of the condition, as variables of the session's table.
PairsOptions pairs_options(const MutualInformationRequest& r, const Session& session, Variables& v) {
  PairsOptions o{.estimator = r.estimator, .p_value = r.p_value, .correction = r.correction};
  o.variables = v.add(select_columns(session.table, r.columns.text, r.exclude.text, session.rows().columns));
  for (const std::int32_t g : v.add(r.given)) {
    const bool paired = std::find(o.variables.begin(), o.variables.end(), g) != o.variables.end();
    require(!paired || r.columns.empty(), "--given: '" + v.label(g) + "' is also one of --columns");
    std::erase(o.variables, g);
    o.given.push_back({g, 0});
  }
  return o;
}

/// Warns if surrogates are fewer than were asked for, or leave out rows.
std::vector<Warning> inspect_surrogates(const PreparedPairs& p, std::span<const PairResult> pairs) {
  const EstimatorOptions& e = p.options.estimator;
  if (!e.surrogates) return {};
  const PairResult& shortest = *std::min_element(
      pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.samples < b.samples; });
  std::int64_t different = e.surrogates;
  for (const PairResult& r : pairs) different = std::min(different, r.surrogate_count);
  const EstimationTask task = pair_task(p, {&shortest.x, 1}, shortest.y);
  if (e.surrogate_type != SurrogateMethod::circular)
    different = different_surrogates(p.series, task.times, e, e.surrogates);
  std::vector<Warning> all = trials_cut(task.times.size(), times_of(p.series, task).size());
  if (const auto few = few_surrogates(different, e, e.surrogates)) all.push_back(*few);
  return all;
}

/// Warns of pairs whose value or p-value misleads.
std::vector<Warning> inspect_pairs(const PreparedPairs& p, std::span<const PairResult> pairs) {
  constexpr double worth_a_look = 0.5;  // nats
  const EstimatorOptions& e = p.options.estimator;
  const bool frequencies = e.estimator == Estimator::discrete || e.estimator == Estimator::ordinal;
  std::vector<Warning> all;
  SharedWarnings found;
  AnalyticTests analytic(p.series);
  for (const PairResult& r : pairs) {
    const auto name = [&](std::int32_t v) { return p.series.names[std::size_t(v)]; };
    if (e.tested_analytically()) analytic.add(r.x, r.y, std::size_t(r.samples));
    const bool first = &r == pairs.data();
    if (!(first || frequencies || r.value >= worth_a_look)) continue;
    const EstimationTask task = pair_task(p, {&r.x, 1}, r.y);
    const std::string both = name(r.x) + " and " + name(r.y);
    if (!why_infinite(p.series, task, 0, r.value, e).empty()) found.add("infinite", both);
    if (!(first || frequencies)) continue;
    for (const Warning& w : inspect_estimator(p.series, task, 0, e)) {
      if (w.name == "undersampled")
        found.add(w.name, both);
      else if (first)
        all.push_back(w);
    }
  }
  found.tell("infinite",
             "one determines the other as far as these rows can tell, so that the truth may be infinite; the "
             "value only tells how many rows there are",
             all);
  found.tell(
      "undersampled",
      "fewer rows than joint states, or most states that occur do so once, so that the value grows with "
      "the number of states; fewer conditions or more rows help",
      all);
  const std::vector<Warning> of_tests = analytic.warnings();
  all.insert(all.end(), of_tests.begin(), of_tests.end());
  return all;
}

Json pair_json(const MutualInformationMatrix& m, const PairResult& r) {
  const double factor = m.request.factor(), corrected = r.value - r.surrogates.mean;
  Json j{{"x", m.variables[std::size_t(r.x)]},
         {"y", m.variables[std::size_t(r.y)]},
         {"x_index", r.x},
         {"y_index", r.y},
         {"value", r.value * factor},
         {"bias_corrected", corrected * factor},
         {"z", r.surrogates.deviation > 0 ? corrected / r.surrogates.deviation : std::nan("")},
         {"p_value", r.p_value},
         {"p_at_floor", m.p_at_floor(r)},
         {"p_adjusted", r.p_adjusted},
         {"surrogates", r.surrogate_count},
         {"surrogate_mean", r.surrogates.mean * factor},
         {"surrogate_std", r.surrogates.deviation * factor},
         {"samples", r.samples}};
  if (r.min_shift) j["min_shift"] = r.min_shift;
  return j;
}

}  // namespace

bool MutualInformationMatrix::p_at_floor(const PairResult& pair) const {
  return kolmo::p_at_floor(pair.p_value, pair.surrogate_count, request.p_value);
}

MutualInformationMatrix mutual_information_matrix(const MutualInformationRequest& asked, Session& session,
                                                  const Streams& streams) {
  session.prepare(asked);
  Variables v(session.table);
  const PairsOptions options = pairs_options(asked, session, v);
  const Series series = session.series(v.columns(), asked);
  const PreparedPairs prepared = prepare_pairs(series, options);
  MutualInformationMatrix m{asked};
  m.request.estimator = prepared.options.estimator;
  session.note_neighbors(m.request.estimator);
  std::optional<Progress> progress;
  if (session.terminal || session.progress)
    progress.emplace(pairs_work(prepared), "estimates x rows", session.progress);
  const auto begin = std::chrono::steady_clock::now();
  m.pairs = estimate_pairs(prepared, streams, progress ? &*progress : nullptr);
  progress.reset();
  m.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  session.warn(inspect_surrogates(prepared, m.pairs), asked);
  session.warn(inspect_pairs(prepared, m.pairs), asked);
  session.note_losses(streams);

  const EstimatorOptions& e = m.request.estimator;
  m.test = e.tested_analytically() ? std::string(analytic_test(1, 1)) : e.surrogates ? "surrogates" : "";
  std::vector<std::int32_t> place(series.values.size());
  for (const std::int32_t x : options.variables) {
    place[std::size_t(x)] = std::int32_t(m.variables.size());
    m.variables.push_back(series.names[std::size_t(x)]);
  }
  for (PairResult& r : m.pairs) r.x = place[std::size_t(r.x)], r.y = place[std::size_t(r.y)];
  m.rows = series.rows(), m.sets = series.sets, m.missing_rows = series.missing_rows;
  m.time = session.rows().time, m.reading = session.reading, m.file = session.table.file;
  m.device = streams.text(), m.threads = streams.threads();
  m.warnings = session.warnings, m.notes = session.notes;
  return m;
}

Json matrix_json(const MutualInformationMatrix& m) {
  Json options{{"file", m.file}};
  for (const auto& [name, value] : m.reading) options[name] = value.empty() ? Json(true) : Json(value);
  options.update(options_json(m.request));
  if (m.test == "surrogates") options["p_value_convention"] = p_value_formula(m.request.p_value);
  Json j{{"measure", "mi"},
         {"units", unit_names[std::size_t(m.request.units)]},
         {"device", m.device},
         {"threads", m.threads},
         {"seconds", m.seconds},
         {"options", std::move(options)},
         {"variables", m.variables},
         {"rows", m.rows},
         {"sets", m.sets},
         {"missing_rows", m.missing_rows},
         {"test", m.test.empty() ? Json() : Json(m.test)},
         {"pairs", Json::array()}};
  if (m.time) j["time_axis"] = time_json(*m.time);
  for (const PairResult& r : m.pairs) j["pairs"].push_back(pair_json(m, r));
  j["warnings"] = warnings_json(m.warnings);
  return j;
}

}  // namespace kolmo
