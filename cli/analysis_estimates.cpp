#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/link_options.hpp"
#include "cli/local_options.hpp"
#include "cli/table.hpp"
#include "kolmo/flow/estimate/analytic_test.hpp"
#include "kolmo/flow/estimate/entropy.hpp"
#include "kolmo/flow/estimate/progress.hpp"
#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/flow/result/network_json.hpp"
#include "kolmo/flow/test/inspect_test.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

struct EstimateFlags : LinkOptions {
  std::string x, y, source, target, complete;
  Embedding past;
  std::int64_t lag = 1;
  CLI::Option* max_lag = nullptr;
  LocalOptions local;

  Stream open() {
    Stream stream = LinkOptions::open();
    local.check(*this);
    return stream;
  }
};

/// The result of a command, before it is printed.
struct Finding {
  std::string measure, what;
  double value;
  std::int64_t samples;
  double seconds;
  double p_value = std::nan("");
  std::string test;                  ///< "surrogates", "F", "chi-square"; empty if there was none
  std::int64_t surrogate_count = 0;  ///< different ones
  Summary surrogates{};
};

/// The time that an estimate takes, of which standard error tells while it runs.
class Clock {
 public:
  Clock(std::string what, const AnalysisCall* call) : call_(call) {
    if (!call) elapsed_.emplace(std::move(what));
  }
  /// Estimates, and tells the share done where it is known before the end.
  Estimates estimate(const Series& series, const EstimationTask& task, const EstimatorOptions& options,
                     Stream& stream) {
    if (!estimates_in_parts(task, options, stream.device()))
      return kolmo::estimate(series, task, options, stream);
    elapsed_.reset();
    Progress progress(double(task.x.size()) * double(1 + options.surrogates), "estimates",
                      call_ ? call_->progress : nullptr);
    return kolmo::estimate(series, task, options, stream, &progress);
  }
  double stop() {
    elapsed_.reset();
    return std::chrono::duration<double>(Steady::now() - begin_).count();
  }

 private:
  using Steady = std::chrono::steady_clock;

  const AnalysisCall* call_;
  std::optional<ElapsedTime> elapsed_;
  Steady::time_point begin_ = Steady::now();
};

/// Settles the parameters of surrogates, and warns if there are few different ones.
void settle(EstimateFlags& o, const Series& series, std::span<const std::int64_t> times, std::int64_t reach) {
  if (!o.estimator.surrogates) return;
  o.estimator = settled(o.estimator, series, reach);
  const std::int64_t different = different_surrogates(series, times, o.estimator, o.estimator.surrogates);
  if (const auto few = few_surrogates(different, o.estimator)) o.warn({*few});
}

std::string test_of(const Estimates& e, const EstimationTask& task) {
  if (!e.p_values.empty()) return std::string(analytic_test(task.x[0].size(), task.y.size()));
  return e.surrogates ? "surrogates" : "";
}

Finding measure(const std::string& name, const std::string& what, const Series& series,
                const EstimationTask& task, EstimateFlags& o, Stream& stream) {
  EstimatorOptions observed = o.estimator;
  observed.surrogates = 0;
  check_task(series, task, observed);
  settle(o, series, task.times, reach(task.y));
  Clock clock(name, o.call);
  const Estimates e = clock.estimate(series, task, o.estimator, stream);
  const auto surrogates = e.surrogate(0);
  o.local.write(series, task, o, stream);
  return {name,
          what,
          e.observed(0),
          std::int64_t(task.times.size()),
          clock.stop(),
          e.p_values.empty() ? p_value(e.observed(0), surrogates, o.p_value) : e.p_values[0],
          test_of(e, task),
          e.different[0],
          summarize(surrogates)};
}

/// The method of the surrogates and its parameter.
std::string surrogates_used(const EstimatorOptions& e) {
  const std::string name(surrogate_method_names[std::size_t(e.surrogate_type)]);
  if (e.surrogate_type == SurrogateMethod::circular)
    return name + " surrogates, shifted by " + std::to_string(e.min_shift) + " rows or more";
  if (e.surrogate_type == SurrogateMethod::block)
    return name + " surrogates of " + std::to_string(e.block_length) + " rows";
  return name + " surrogates";
}

/// "target_history" as "target history".
std::string words(std::string key) {
  std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

void print(const Finding& f, const Series& series, const EstimateFlags& o, const Stream& stream,
           const Json& roles) {
  if (o.local.to_standard_output()) return;
  const double value = f.value * o.factor();
  if (o.json || o.call) {
    Json j{{"measure", f.measure},
           {"value", value},
           {"units", o.unit()},
           {"samples", f.samples},
           {"p_value", f.p_value},
           {"p_at_floor", p_at_floor(f.p_value, f.surrogate_count, o.p_value)},
           {"test", f.test.empty() ? Json() : Json(f.test)},
           {"surrogates", f.surrogate_count},
           {"device", to_string(stream.device())},
           {"seconds", f.seconds},
           {"sets", series.sets},
           {"missing_rows", series.missing_rows}};
    if (f.surrogate_count) {
      j["surrogate_mean"] = f.surrogates.mean * o.factor();
      j["surrogate_std"] = f.surrogates.deviation * o.factor();
    }
    j.update(roles);
    o.local.describe(j);
    const Json used = o.used();
    for (const auto& [key, option] : used.items())
      if (!j.contains(key)) j[key] = option;
    j["threads"] = stream.threads();
    j["warnings"] = warnings_json(o.warnings());
    if (o.call)
      o.call->result = std::move(j);
    else
      std::cout << j.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
    return;
  }
  std::vector<std::string> head{"measure", "of", ">" + o.unit()},
      row{f.measure, f.what, significant(value, 6)};
  if (!f.test.empty())
    head.emplace_back(">p-value"), row.push_back(p_text(f.p_value, f.surrogate_count, o.p_value));
  if (f.surrogate_count) head.emplace_back(">surrogates"), row.push_back(std::to_string(f.surrogate_count));
  head.insert(head.end(), {">samples", ">time"});
  row.insert(row.end(), {std::to_string(f.samples), duration(f.seconds)});
  TextTable table(std::move(head));
  table.add(std::move(row));
  table.print(std::cout);
  std::string embedding;
  for (const auto& [key, option] : roles.items())
    if (option.is_number()) embedding += (embedding.empty() ? "" : ", ") + words(key) + " " + option.dump();
  if (!embedding.empty()) std::cout << embedding << '\n';
  if (f.surrogate_count)
    std::cout << "p = " << p_value_formula(o.p_value) << ", " << surrogates_used(o.estimator) << '\n';
  if (!f.test.empty() && !f.surrogate_count) std::cout << "p of the " << f.test << " test\n";
  if (o.estimator.estimator != Estimator::ksg)
    std::cout << "estimator: " << estimator_names[std::size_t(o.estimator.estimator)] << '\n';
  std::cout << "device: " << describe(stream) << '\n';
}

std::string list(const Variables& v, std::span<const std::int32_t> variables) {
  std::string text;
  for (const std::int32_t i : variables) text += (text.empty() ? "" : ",") + v.label(i);
  return text;
}

Coordinates present(std::span<const std::int32_t> variables) {
  Coordinates c;
  for (const std::int32_t v : variables) c.push_back({v, 0});
  return c;
}

/// Columns of an option that may be left out. Without this an empty spec would mean all columns.
std::vector<std::int32_t> optional(Variables& v, const std::string& spec) {
  return spec.empty() ? std::vector<std::int32_t>() : v.add(spec);
}

void run_entropy(EstimateFlags& o) {
  Stream stream = o.AnalysisOptions::open();
  const Table table = o.load();
  Variables v(table);
  const auto x = v.add(o.x);
  const Series series = o.series(table, v.columns());
  Clock clock("entropy", o.call);
  const double value = entropy(series, present(x), o.estimator, stream);
  const auto samples = std::int64_t(embeddable(series, 0).size());
  print({"entropy", list(v, x), value, samples, clock.stop()}, series, o, stream, {{"x", o.x}});
}

void run_mi(EstimateFlags& o) {
  Stream stream = o.open();
  const Table table = o.load();
  Variables v(table);
  const auto x = v.add(o.x), y = v.add(o.y), given = optional(v, o.given);
  const Series series = o.series(table, v.columns());
  EstimationTask task{series.file + ": mi", {present(x)},          present(y),
                      present(given),       embeddable(series, 0), {0}};
  Json roles{{"x", o.x}, {"y", o.y}};
  if (!given.empty()) roles["given"] = o.given;
  const std::string what = list(v, x) + "; " + list(v, y) + (given.empty() ? "" : " | " + list(v, given));
  o.warn(inspect_analytic_test(series, task, o.estimator));
  print(measure("mi", what, series, task, o, stream), series, o, stream, roles);
}

/// One link of a network, with the same steps.
void run_te(EstimateFlags& o) {
  Stream stream = o.open();
  o.settle_link();
  NetworkOptions& n = o.network;
  if (!o.max_lag->count()) n.min_lag = n.max_lag = o.lag;
  const Table table = o.load();
  Variables v(table);
  const std::int32_t source = v.add_one(o.source, "--source"), target = v.add_one(o.target, "--target");
  require(source != target, "te: source and target are the same column");
  n.variables = {source, target};
  o.read_given(v, n.variables);
  if (!o.complete.empty()) v.add(o.complete);
  const Series series = o.series(table, v.columns());
  check_network(series, n);
  Clock clock("te", o.call);
  const TargetResult embedded = choose_embeddings(series, n, {&target, 1}, stream)[0];
  const EstimationTask task = link_task(series, n, embedded, {&source, 1});
  o.estimator.min_shift = LinkShifts(series, n).of(source, target);
  settle(o, series, task.times, network_reach(n, longest_embedding(n)));
  n.estimator = o.estimator;
  const Estimates e = clock.estimate(series, task, n.estimator, stream);
  const LinkResult link = link_of(n, source, target, 0, e);
  const auto best = std::size_t(link.lag - n.min_lag);
  o.local.write(series, {task.name, {task.x[best]}, task.y, task.z, task.times, {task.streams[best]}}, o,
                stream);
  Json roles{{"source", o.source}, {"target", o.target}};
  if (!o.given.empty()) roles["given"] = o.given;
  if (!o.complete.empty()) roles["complete"] = o.complete;
  roles["embedding"] = embedding_rule_names[std::size_t(n.embedding)];
  roles.update(Json{{"target_history", embedded.embedding.history},
                    {"target_tau", embedded.embedding.tau},
                    {"source_history", n.source.history},
                    {"source_tau", n.source.tau},
                    {"lag", link.lag}});
  if (n.lags() > 1) {
    roles["max_lag"] = n.max_lag;
    for (const double value : link.profile) roles["profile"].push_back(value * o.factor());
  }
  const std::string what =
      v.label(source) + " -> " + v.label(target) + (o.given.empty() ? "" : " | " + printable(o.given));
  print({"te", what, link.value, embedded.samples, clock.stop(), link.p_value, test_of(e, task),
         link.surrogate_count, link.surrogates},
        series, o, stream, roles);
}

void run_ais(EstimateFlags& o) {
  Stream stream = o.open();
  const Table table = o.load();
  Variables v(table);
  const std::int32_t x = v.add_one(o.x, "--x");
  const Series series = o.series(table, v.columns());
  const Json roles{{"x", o.x}, {"history", o.past.history}, {"tau", o.past.tau}};
  print(measure("ais", v.label(x), series, storage_task(series, x, o.past), o, stream), series, o, stream,
        roles);
}

constexpr std::int64_t far = 1000000000;

void add_columns(CLI::App& c, const std::string& name, std::string& spec, const std::string& help,
                 bool required = true) {
  c.add_option(name, spec, help)->type_name("COLS")->required(required);
}

/// A command whose options live as long as it.
struct EstimateCommand {
  CLI::App* c;
  EstimateFlags& o;
};

EstimateCommand add(CLI::App& app, const Context& context, const std::string& name, const std::string& help,
                    const std::string& footer, std::int64_t surrogates, void (*run)(EstimateFlags&),
                    SurrogateMethod surrogate_type = SurrogateMethod::circular) {
  CLI::App* c = app.add_subcommand(name, help);
  const auto flags = std::make_shared<EstimateFlags>();
  EstimateFlags& o = *flags;
  o.call = context.call;
  o.add(*c, surrogates, surrogate_type), o.add_trials(*c), o.add_strict(*c);
  if (surrogates >= 0) o.add_estimator(*c), o.local.add(*c);
  c->footer(footer + "\n" + columns_help);
  c->callback([flags, run] { run(*flags); });
  return {c, o};
}

}  // namespace

void add_entropy(CLI::App& app, Context& context) {
  auto [c, o] =
      add(app, context, "entropy", "Differential entropy of one or several columns",
          "H = psi(N) - psi(k) + d <ln eps>, eps twice the distance to the k-th neighbour in the maximum "
          "norm,\nof the data in its own units, however it was standardised (Kozachenko, Leonenko 1987).\n"
          "Example:\n  kolmo entropy data.csv --x 0,1 --units bits",
          -1, run_entropy);
  add_columns(*c, "--x", o.x, "columns of the joint distribution");
}

void add_mi(CLI::App& app, Context& context) {
  auto [c, o] =
      add(app, context, "mi", "Mutual information I(x;y), or I(x;y|given), of columns at the same time",
          "Example:\n  kolmo mi data.csv --x 0 --y 1,2 --given 3 --surrogates 200", 0, run_mi);
  add_columns(*c, "--x", o.x, "columns of x, the one that surrogates shuffle");
  add_columns(*c, "--y", o.y, "columns of y");
  add_columns(*c, "--given", o.given, "columns conditioned on", false);
}

void add_te(CLI::App& app, Context& context) {
  auto [c, o] = add(app, context, "te", "Transfer entropy from a source to a target",
                    "I(source past; target next | target past, given).\n"
                    "Example:\n  kolmo te data.csv --source 0 --target 1 --target-history 2 --surrogates 200",
                    0, run_te);
  add_columns(*c, "--source", o.source, "the source's column");
  add_columns(*c, "--target", o.target, "the target's column");
  o.add_link(*c, EmbeddingRule::given);
  CLI::Option* lag =
      add_count(*c, "--lag", o.lag, 1, far, "rows from the newest source value to the target's next value");
  o.max_lag = add_count(*c, "--max-lag", o.network.max_lag, 1, far,
                        "lags 1 to N instead: the value is the largest over them, as in a network");
  o.max_lag->excludes(lag);
  add_columns(*c, "--complete", o.complete, "rows in which these columns have no value are left out too",
              false);
}

void add_ais(CLI::App& app, Context& context) {
  auto [c, o] =
      add(app, context, "ais", "Active information storage: what a series' past says about its next value",
          "I(past; next).\nExample:\n  kolmo ais data.csv --x 0 --history 2", 0, run_ais,
          SurrogateMethod::permute);
  add_columns(*c, "--x", o.x, "the column");
  add_count(*c, "--history", o.past.history, 1, 16, "past values");
  add_count(*c, "--tau", o.past.tau, 1, far, "rows between them");
}

}  // namespace kolmo::cli
