#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>

#include "cli/analysis_options.hpp"
#include "cli/commands.hpp"
#include "cli/table.hpp"
#include "kolmo/flow/checkpoint.hpp"
#include "kolmo/flow/graph_export.hpp"
#include "kolmo/flow/network_json.hpp"
#include "kolmo/flow/progress.hpp"
#include "kolmo/flow/report.hpp"
#include "kolmo/io/atomic_file.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options : AnalysisOptions {
  std::string columns, given, out, report, graph;
  NetworkOptions network;
  CLI::Option *embedding = nullptr, *history = nullptr, *tau = nullptr;
};

// What Ctrl-C says. Written by a signal handler, so it is made beforehand.
char farewell[4096] = "\nkolmo: interrupted\n";

extern "C" void on_interrupted_network(int) {
  if (write(STDERR_FILENO, farewell, std::strlen(farewell)) < 0) _exit(1);
  _exit(130);  // finished work is on the disk; SQLite undoes what was being written
}

bool ends_with(const std::string& text, std::string_view end) { return text.ends_with(end); }

void check_outputs(const Options& o) {
  require(o.graph.empty() || ends_with(o.graph, ".graphml") || ends_with(o.graph, ".dot"),
          "--graph: '" + o.graph + "' ends neither in .graphml nor in .dot");
  for (const auto& [option, path] :
       {std::pair("--out", o.out), {"--report", o.report}, {"--graph", o.graph}}) {
    if (path.empty() || path == "-") continue;
    const auto folder = std::filesystem::absolute(path).parent_path();
    if (!std::filesystem::is_directory(folder))
      fail<InvalidArgument>(std::string(option) + ": there is no folder " + folder.string());
    if (std::filesystem::is_directory(path))
      fail<InvalidArgument>(std::string(option) + ": " + path + " is a folder");
  }
  require(o.out.empty() || (o.out != o.report && o.out != o.graph),
          "--out: another output has the same name");
  require(o.report.empty() || o.report != o.graph, "--report and --graph have the same name");
}

Json used_options(const Options& o) {
  const NetworkOptions& n = o.network;
  Json j = o.used();
  if (!o.columns.empty()) j["columns"] = o.columns;
  if (!o.given.empty()) j["given"] = o.given;
  j["max_lag"] = n.max_lag;
  j["embedding"] = embedding_rule_names[std::size_t(n.embedding)];
  if (n.embedding == EmbeddingRule::given) {
    j["history"] = n.target.history, j["tau"] = n.target.tau;
  } else {
    j["max_history"] = n.max_history, j["max_tau"] = n.max_tau;
    if (n.embedding == EmbeddingRule::ais) j["storage_surrogates"] = n.storage_surrogates;
  }
  j["source_history"] = n.source.history, j["source_tau"] = n.source.tau;
  j["alpha"] = n.alpha;
  j["correction"] = correction_names[std::size_t(n.correction)];
  return j;
}

/// The checkpoint lies beside the first output that is a file.
std::string checkpoint_path(const Options& o) {
  for (const std::string* path : {&o.out, &o.report, &o.graph})
    if (!path->empty() && *path != "-") return *path + ".partial";
  return "";
}

void handle_interrupts(const std::string& checkpoint) {
  std::string text = "\nkolmo: interrupted";
  if (!checkpoint.empty())
    text += "; finished work is in " + checkpoint + ", the same command goes on from there";
  text += "\n";
  std::strncpy(farewell, text.c_str(), sizeof farewell - 1);
  std::signal(SIGINT, on_interrupted_network);
}

/// Whether any link could be significant with so few surrogates.
void note_resolution(const NetworkOptions& n) {
  const auto links = double(n.variables.size() * (n.variables.size() - 1));
  const double least = (n.p_value == PValue::plus_one ? 1.0 / double(1 + n.estimator.surrogates) : 0) *
                       (n.correction == Correction::none ? 1 : links);
  if (!n.estimator.surrogates)
    std::fprintf(stderr, "kolmo: note: without surrogates no link is tested\n");
  else if (least > n.alpha)
    std::fprintf(
        stderr,
        "kolmo: note: with %lld surrogates a single link among %.0f cannot reach alpha = %g; %.0f surrogates "
        "could\n",
        static_cast<long long>(n.estimator.surrogates), links, n.alpha,
        std::ceil((n.correction == Correction::none ? 1 : links) / n.alpha) - 1);
}

void write_outputs(const Options& o, const Json& document, const Series& series) {
  if (!o.out.empty()) write_file(o.out, document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  if (!o.report.empty()) {
    ReportSeries shown;
    for (const std::int32_t v : o.network.variables) {
      shown.names.push_back(series.names[std::size_t(v)]);
      shown.values.push_back(series.values[std::size_t(v)]);
    }
    write_file(o.report, html_report(document, shown));
  }
  if (!o.graph.empty()) write_file(o.graph, ends_with(o.graph, ".dot") ? dot(document) : graphml(document));
}

void print_links(const Options& o, const Network& network, const Series& series) {
  TextTable table({"source", "target", ">lag", ">" + o.unit(), ">p-value", ">adjusted"});
  std::vector<const LinkResult*> links;
  for (const LinkResult& l : network.links)
    if (l.significant) links.push_back(&l);
  std::stable_sort(links.begin(), links.end(), [](auto* a, auto* b) { return a->value > b->value; });
  for (const LinkResult* l : links)
    table.add({series.names[std::size_t(l->source)], series.names[std::size_t(l->target)],
               std::to_string(l->lag), significant(l->value * o.factor(), 4), significant(l->p_value, 3),
               significant(l->p_adjusted, 3)});
  if (!table.empty()) table.print(std::cout);
  std::cout << links.size() << " of " << network.links.size()
            << " links significant at alpha = " << o.network.alpha << ", correction "
            << correction_names[std::size_t(o.network.correction)] << ", " << o.estimator.surrogates
            << " surrogates, p = " << p_value_formula(o.p_value) << '\n';
}

void run_network(Options& o, const Context& context) {
  check_outputs(o);
  NetworkOptions& n = o.network;
  const bool given_embedding = o.history->count() || o.tau->count();
  if (given_embedding && !o.embedding->count()) n.embedding = EmbeddingRule::given;
  require(!given_embedding || n.embedding == EmbeddingRule::given,
          "--history and --tau need --embedding given");
  require(n.alpha > 0 && n.alpha < 1, "--alpha: must lie between 0 and 1");
  Stream stream = o.device.open();
  const Table table = o.load();
  Variables v(table);
  n.variables = v.add(o.columns);
  if (!o.given.empty()) n.given = v.add(o.given);
  const auto is_given = [&](std::int32_t x) { return std::count(n.given.begin(), n.given.end(), x) > 0; };
  if (o.columns.empty()) std::erase_if(n.variables, is_given);
  for (const std::int32_t g : n.given)
    require(std::find(n.variables.begin(), n.variables.end(), g) == n.variables.end(),
            "--given: '" + v.label(g) + "' is also one of --columns");
  n.estimator = o.estimator, n.p_value = o.p_value;
  const Series series = o.series(table, v.columns());
  check_network(series, n);
  note_resolution(n);

  const Json used = used_options(o);
  std::optional<Checkpoint> checkpoint;
  const std::string partial = checkpoint_path(o);
  if (!partial.empty()) checkpoint.emplace(partial, run_key(series, used));
  if (checkpoint && !checkpoint->finished().empty())
    std::fprintf(stderr, "kolmo: note: going on from %s\n", partial.c_str());
  handle_interrupts(partial);
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Progress> progress(std::in_place, network_work(series, n), "estimates x rows");
  const Network network = infer_network(series, n, stream, checkpoint ? &*checkpoint : nullptr, &*progress);
  progress.reset();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;

  std::signal(SIGINT, SIG_IGN);  // the result is written as a whole
  Json document =
      network_json(network, series, n, {context.command_line, to_string(stream.device()), used}, o.bits());
  write_outputs(o, document, series);
  if (checkpoint) checkpoint->remove();
  if (o.json) {
    document["seconds"] = seconds.count(), document["threads"] = stream.threads();
    std::cout << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
    return;
  }
  if (o.out == "-" || o.report == "-" || o.graph == "-") return;
  print_links(o, network, series);
  std::cout << "device: " << describe(stream) << ", " << duration(seconds.count()) << '\n';
}

}  // namespace

void add_network(CLI::App& app, Context& context) {
  static Options o;
  NetworkOptions& n = o.network;
  CLI::App* c =
      app.add_subcommand("network", "Who drives whom: transfer entropy between all pairs of columns");
  o.add(*c, 1000);
  constexpr std::int64_t far = 1000000000;
  c->add_option("--columns", o.columns, "variables of the network; default all")->type_name("COLS");
  c->add_option("--given", o.given, "variables conditioned on, by their values one row back")
      ->type_name("COLS");
  add_count(*c, "--max-lag", n.max_lag, 1, far, "lags 1 to N; a link's value is the largest over them");
  o.embedding =
      add_choice(*c, "--embedding", n.embedding, embedding_rule_names,
                 "of each target's past: largest bias-corrected active information storage, smallest "
                 "prediction error, or as given by --history and --tau");
  add_count(*c, "--max-history", n.max_history, 1, 16, "longest past tried");
  add_count(*c, "--max-tau", n.max_tau, 1, far, "largest step tried");
  o.history =
      add_count(*c, "--history,--target-history", n.target.history, 1, 16, "past values of each target");
  o.tau = add_count(*c, "--tau,--target-tau", n.target.tau, 1, far, "rows between them");
  add_count(*c, "--source-history", n.source.history, 1, 16, "past values of each source");
  add_count(*c, "--source-tau", n.source.tau, 1, far, "rows between them");
  c->add_option("--alpha", n.alpha, "level of significance")->capture_default_str()->type_name("A");
  add_choice(*c, "--correction", n.correction, correction_names,
             "for testing all pairs: Benjamini-Hochberg, Bonferroni or none");
  c->add_option("--out", o.out, "write the result here")->type_name("FILE.json");
  c->add_option("--report", o.report, "write a page to read here")->type_name("FILE.html");
  c->add_option("--graph", o.graph, "write the graph here")->type_name("FILE.graphml|.dot");
  c->footer(
      "A link's p-value compares its largest transfer entropy over the lags with the same of every "
      "surrogate.\n"
      "Finished work is kept beside the output: after Ctrl-C the same command goes on.\n"
      "Example:\n  kolmo network data.csv --columns 1,2,3 --max-lag 4 --out network.json --report "
      "network.html\n"
      "COLS are 0-based indices or header names, comma-separated.");
  c->callback([&context] { run_network(o, context); });
}

}  // namespace kolmo::cli
