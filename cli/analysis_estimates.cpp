#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>

#include "cli/analysis_options.hpp"
#include "cli/commands.hpp"
#include "cli/table.hpp"
#include "kolmo/flow/entropy.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options : AnalysisOptions {
  std::string x, y, source, target, given;
  Embedding target_past, source_past;
  std::int64_t lag = 1;
};

/// What a command found, before it is printed.
struct Finding {
  std::string measure, what;
  double value;
  std::int64_t samples;
  std::vector<double> surrogates;
  double seconds;
};

Finding measure(const std::string& name, const std::string& what, const Series& series,
                const EstimationTask& task, const Options& o, Stream& stream) {
  const auto begin = std::chrono::steady_clock::now();
  const Estimates e = estimate(series, task, o.estimator, stream);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  const auto surrogates = e.surrogate(0);
  return {name,
          what,
          e.observed(0),
          std::int64_t(task.times.size()),
          {surrogates.begin(), surrogates.end()},
          taken.count()};
}

void print(const Finding& f, const Series& series, const Options& o, const Stream& stream,
           const Json& roles) {
  const double p = p_value(f.value, f.surrogates, o.p_value), value = f.value * o.factor();
  if (o.json) {
    Json j{{"measure", f.measure},
           {"value", value},
           {"units", o.unit()},
           {"samples", f.samples},
           {"p_value", p},
           {"surrogates", std::int64_t(f.surrogates.size())},
           {"device", to_string(stream.device())},
           {"seconds", f.seconds},
           {"sets", series.sets},
           {"missing_rows", series.missing_rows}};
    if (!f.surrogates.empty()) {
      const Summary s = summarize(f.surrogates);
      j["surrogate_mean"] = s.mean * o.factor(), j["surrogate_std"] = s.deviation * o.factor();
    }
    j.update(roles);
    const Json used = o.used();
    for (const auto& [key, option] : used.items())
      if (!j.contains(key)) j[key] = option;
    j["threads"] = stream.threads();
    std::cout << j.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
    return;
  }
  TextTable table(f.surrogates.empty()
                      ? std::vector<std::string>{"measure", "of", ">" + o.unit(), ">samples", ">time"}
                      : std::vector<std::string>{"measure", "of", ">" + o.unit(), ">p-value", ">surrogates",
                                                 ">samples", ">time"});
  std::vector<std::string> row{f.measure, f.what, significant(value, 6)};
  if (!f.surrogates.empty()) row.insert(row.end(), {significant(p, 3), std::to_string(f.surrogates.size())});
  row.insert(row.end(), {std::to_string(f.samples), duration(f.seconds)});
  table.add(std::move(row));
  table.print(std::cout);
  if (!f.surrogates.empty()) std::cout << "p = " << p_value_formula(o.p_value) << '\n';
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

/// Columns of an option that may be left out; an empty spec would mean all columns.
std::vector<std::int32_t> optional(Variables& v, const std::string& spec) {
  return spec.empty() ? std::vector<std::int32_t>() : v.add(spec);
}

void run_entropy(Options& o) {
  Stream stream = o.device.open();
  const Table table = o.load();
  Variables v(table);
  const auto x = v.add(o.x);
  const Series series = o.series(table, v.columns());
  const auto begin = std::chrono::steady_clock::now();
  const double value = entropy(series, present(x), o.estimator, stream);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  const auto samples = std::int64_t(embeddable(series, 0).size());
  print({"entropy", list(v, x), value, samples, {}, taken.count()}, series, o, stream, {{"x", o.x}});
}

void run_mi(Options& o) {
  Stream stream = o.device.open();
  const Table table = o.load();
  Variables v(table);
  const auto x = v.add(o.x), y = v.add(o.y), given = optional(v, o.given);
  const Series series = o.series(table, v.columns());
  EstimationTask task{series.file + ": mi", {present(x)},          present(y),
                      present(given),       embeddable(series, 0), {0}};
  Json roles{{"x", o.x}, {"y", o.y}};
  if (!given.empty()) roles["given"] = o.given;
  const std::string what = list(v, x) + "; " + list(v, y) + (given.empty() ? "" : " | " + list(v, given));
  print(measure("mi", what, series, task, o, stream), series, o, stream, roles);
}

void run_te(Options& o) {
  Stream stream = o.device.open();
  const Table table = o.load();
  Variables v(table);
  const std::int32_t source = v.add_one(o.source, "--source"), target = v.add_one(o.target, "--target");
  const auto given = optional(v, o.given);
  require(source != target, "te: source and target are the same column");
  for (const std::int32_t g : given)
    require(g != source && g != target, "te: --given names the source or the target, '" + v.label(g) + "'");
  const Series series = o.series(table, v.columns());
  const EstimationTask task =
      transfer_entropy_task(series, source, target, given, o.source_past, o.target_past, o.lag);
  Json roles{{"source", o.source}, {"target", o.target}};
  if (!given.empty()) roles["given"] = o.given;
  roles.update(Json{{"target_history", o.target_past.history},
                    {"target_tau", o.target_past.tau},
                    {"source_history", o.source_past.history},
                    {"source_tau", o.source_past.tau},
                    {"lag", o.lag}});
  const std::string what =
      v.label(source) + " -> " + v.label(target) + (given.empty() ? "" : " | " + list(v, given));
  print(measure("te", what, series, task, o, stream), series, o, stream, roles);
}

void run_ais(Options& o) {
  Stream stream = o.device.open();
  const Table table = o.load();
  Variables v(table);
  const std::int32_t x = v.add_one(o.x, "--x");
  const Series series = o.series(table, v.columns());
  const Json roles{{"x", o.x}, {"history", o.target_past.history}, {"tau", o.target_past.tau}};
  print(measure("ais", v.label(x), series, storage_task(series, x, o.target_past), o, stream), series, o,
        stream, roles);
}

constexpr std::int64_t far = 1000000000;

void add_columns(CLI::App& c, const std::string& name, std::string& spec, const std::string& help,
                 bool required = true) {
  c.add_option(name, spec, help)->type_name("COLS")->required(required);
}

CLI::App* add(CLI::App& app, const std::string& name, const std::string& help, const std::string& footer,
              Options& o, std::int64_t surrogates, void (*run)(Options&)) {
  CLI::App* c = app.add_subcommand(name, help);
  o.add(*c, surrogates);
  c->footer(footer + "\nCOLS are 0-based indices or header names, comma-separated.");
  c->callback([&o, run] { run(o); });
  return c;
}

}  // namespace

void add_estimates(CLI::App& app, Context&) {
  static Options entropy, mi, te, ais;

  CLI::App* c =
      add(app, "entropy", "Differential entropy of one or several columns",
          "H = psi(N) - psi(k) + d <ln eps>, eps twice the distance to the k-th neighbour in the maximum "
          "norm,\nof the data in its own units, however it was standardised (Kozachenko, Leonenko 1987).\n"
          "Example:\n  kolmo entropy data.csv --x 0,1 --units bits",
          entropy, -1, run_entropy);
  add_columns(*c, "--x", entropy.x, "columns of the joint distribution");

  c = add(app, "mi", "Mutual information I(x;y), or I(x;y|given), of columns at the same time",
          "Example:\n  kolmo mi data.csv --x 0 --y 1,2 --given 3 --surrogates 200", mi, 0, run_mi);
  add_columns(*c, "--x", mi.x, "columns of x, the one that surrogates shuffle");
  add_columns(*c, "--y", mi.y, "columns of y");
  add_columns(*c, "--given", mi.given, "columns conditioned on", false);

  c = add(app, "te", "Transfer entropy from a source to a target",
          "I(source past; target next | target past, given one row back).\n"
          "Example:\n  kolmo te data.csv --source 0 --target 1 --target-history 2 --surrogates 200",
          te, 0, run_te);
  add_columns(*c, "--source", te.source, "the source's column");
  add_columns(*c, "--target", te.target, "the target's column");
  add_columns(*c, "--given", te.given, "columns conditioned on, by their values one row back", false);
  add_count(*c, "--target-history", te.target_past.history, 1, 16, "past values of the target");
  add_count(*c, "--target-tau", te.target_past.tau, 1, far, "rows between them");
  add_count(*c, "--source-history", te.source_past.history, 1, 16, "past values of the source");
  add_count(*c, "--source-tau", te.source_past.tau, 1, far, "rows between them");
  add_count(*c, "--lag", te.lag, 1, far, "rows from the newest source value to the target's next value");

  c = add(app, "ais", "Active information storage: what a series' past says about its next value",
          "I(past; next).\nExample:\n  kolmo ais data.csv --x 0 --history 2", ais, 0, run_ais);
  add_columns(*c, "--x", ais.x, "the column");
  add_count(*c, "--history", ais.target_past.history, 1, 16, "past values");
  add_count(*c, "--tau", ais.target_past.tau, 1, far, "rows between them");
}

}  // namespace kolmo::cli
