#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "cli/analysis_call.hpp"
#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/interrupt.hpp"
#include "cli/link_options.hpp"
#include "cli/network_output.hpp"
#include "cli/scheduler.hpp"
#include "cli/table.hpp"
#include "kolmo/base/utc.hpp"
#include "kolmo/flow/estimate/progress.hpp"
#include "kolmo/flow/infer/checkpoint.hpp"
#include "kolmo/flow/result/inspect_network.hpp"
#include "kolmo/flow/result/methods.hpp"
#include "kolmo/flow/result/network_json.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

struct NetworkFlags : LinkOptions {
  std::string columns, excluded, scheduler;
  std::vector<std::string> typed;  ///< options that say what is computed, as they were given
  NetworkOutput output;
};

Json used_options(const NetworkFlags& o) {
  const NetworkOptions& n = o.network;
  Json j = o.used();
  if (!o.columns.empty()) j["columns"] = o.columns;
  if (!o.excluded.empty()) j["exclude"] = o.excluded;
  j["max_lag"] = n.max_lag;
  o.describe_link(j);
  j["alpha"] = n.alpha;
  j["correction"] = correction_names[std::size_t(n.correction)];
  return j;
}

void say_where_work_is(const std::string& checkpoint) {
  std::string text = "\nkolmo: interrupted";
  if (!checkpoint.empty())
    text += "; finished work is in " + checkpoint + ", the same command goes on from there";
  text += "\n";
  say_at_interrupt(text);  // finished work is on disk; SQLite rolls back the rest
}

void add_te_commands(NetworkDocument& document, const NetworkFlags& o, const Network& network,
                     const Series& series, int threads) {
  std::map<std::int32_t, Embedding> embedding;
  for (const TargetResult& t : network.targets) embedding[t.target] = t.embedding;
  const auto write = [&](std::int64_t begin, std::int64_t end) {
    for (auto i = std::size_t(begin); i < std::size_t(end); ++i)
      document.links[i].command =
          te_command(o, series, network.links[i], embedding.at(network.links[i].target));
  };
  parallel_ranges(threads, std::int64_t(network.links.size()), write, 64);
}

/// Throws InvalidArgument if the results for so many variables do not fit into this machine's memory.
void require_room(std::size_t variables) {
  constexpr double bytes_a_link = 3500;  // measured, with its entries in all results
  const double n = double(variables), memory = double(device_info(Device{}).memory);
  const double needed = bytes_a_link * n * (n - 1);
  if (needed <= memory) return;
  const double fit = std::floor(0.5 + std::sqrt(0.25 + memory / bytes_a_link));
  fail<InvalidArgument>(
      fmt::format("network: {} columns have {:.3g} links, which need {} of memory; this machine has {}, "
                  "enough for {:.0f} "
                  "columns: name these with --columns",
                  variables, n * (n - 1), bytes_text(needed), bytes_text(memory), fit));
}

/// The targets whose work is not finished: of each its embedding, and a link from each other variable.
std::vector<std::size_t> unfinished(const std::vector<std::size_t>& targets,
                                    const FinishedWork::Records& work) {
  std::vector<std::size_t> rest;
  for (const std::size_t target : targets) {
    const auto column = std::int64_t(target);
    const auto first = work.lower_bound({column, std::numeric_limits<std::int64_t>::min()});
    const auto last = work.lower_bound({column + 1, std::numeric_limits<std::int64_t>::min()});
    if (std::size_t(std::distance(first, last)) < targets.size()) rest.push_back(target);
  }
  return rest;
}

/// Computes on a cluster what `work` lacks, and adds it there.
void gather(const NetworkFlags& o, const Table& table, const std::vector<std::size_t>& targets,
            KeptWork& work) {
  ClusterWork problem{o.typed, table, {}};
  if (!o.columns.empty()) problem.options.push_back("--columns=" + o.columns);
  std::string excluded = o.excluded;
  if (o.columns.empty() && o.trial_column())
    excluded += (excluded.empty() ? "" : ",") + std::to_string(*o.trial_column());
  if (!excluded.empty()) problem.options.push_back("--exclude=" + excluded);
  if (o.device.device != "auto") problem.options.push_back("--device=" + o.device.device);
  problem.targets = unfinished(targets, work.all());
  Progress progress(double(problem.targets.size()), "targets");
  if (!problem.targets.empty()) run_on_cluster(o.scheduler, problem, work, progress);
}

void run_network(NetworkFlags& o, const Context& context) {
  o.output.check();
  AnalysisCall* const call = o.call;
  NetworkOptions& n = o.network;
  require(n.alpha > 0 && n.alpha < 1, "--alpha: must lie between 0 and 1");
  std::future<Stream> opening = o.opening();
  o.settle_link();
  const Table table = o.load();
  Variables v(table);
  n.variables = v.add_all_but(o.columns, o.excluded, o.columns.empty() ? o.trial_column() : std::nullopt);
  if (o.columns.empty() && !o.given.empty())
    for (const Coordinate& g : v.add_lagged(o.given, "--given")) std::erase(n.variables, g.variable);
  require_room(n.variables.size());
  o.read_given(v, n.variables);
  std::vector<std::size_t> targets;  // columns of the table
  for (const std::int32_t x : n.variables) targets.push_back(v.columns()[std::size_t(x)]);
  if (call) n.targets = v.add(call->targets);
  const Series series = o.series(table, v.columns());
  n = settled(n, series), o.estimator = n.estimator;
  check_network(series, n);
  std::vector<std::string> names;
  for (const std::int32_t x : n.variables) names.push_back(series.names[std::size_t(x)]);
  o.output.read_groups(names);

  const Checksum data = data_checksum(call ? "" : o.file, series);
  const Json used = used_options(o);
  std::optional<Checkpoint> checkpoint;
  const std::string partial = call ? call->checkpoint : o.output.checkpoint();
  declare_output("checkpoint", partial);
  if (!partial.empty()) checkpoint.emplace(partial, run_key(series, used));
  if (checkpoint && !checkpoint->finished().empty()) o.note("going on from " + partial);
  std::optional<KeptWork> kept;  // for the caller
  if (call)
    kept.emplace(std::move(call->finished), checkpoint ? &*checkpoint : nullptr);
  else
    say_where_work_is(partial);
  if (call && call->plan) {
    call->targets = unfinished(targets, kept->all()), call->records = kept->all();
    return;
  }
  Stream stream = opening.get();
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Progress> progress(std::in_place, network_work(series, n), "estimates x rows",
                                   call ? call->progress : nullptr);
  if (!o.scheduler.empty()) {
    KeptWork gathered({}, checkpoint ? &*checkpoint : nullptr);
    gather(o, table, targets, gathered);
    kept.emplace(gathered.all());
  }
  FinishedWork* const work = kept ? static_cast<FinishedWork*>(&*kept) : checkpoint ? &*checkpoint : nullptr;
  const Network network = infer_network(series, n, stream, work, &*progress);
  progress.reset();
  if (call) call->records = kept->all();
  if (call && !n.targets.empty()) return;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;

  if (!call) std::signal(SIGINT, SIG_IGN);  // not interrupted: the result is written as a whole
  NetworkDocument document = network_document(
      network, series, n, {context.command_line, to_string(stream.device()), used}, o.bits());
  add_te_commands(document, o, network, series, stream.threads());
  document.date = utc_now().substr(0, 10), document.data = data;
  const std::vector<Warning> of_network = inspect(network, series, n);
  document.warnings = o.warnings();
  document.warnings.insert(document.warnings.end(), of_network.begin(), of_network.end());
  o.output.describe(document);
  if (checkpoint && !checkpoint->failure().empty())
    o.note(checkpoint->failure() + "; finished work was not kept");
  o.output.write(document, series, n.variables, stream.threads());
  if (checkpoint) checkpoint->remove();
  o.warn(of_network);
  if (call) {
    call->result = network_json(document);
    return;
  }
  if (o.json) {
    std::cout << network_text(document, stream.threads(),
                              {{"seconds", seconds.count()}, {"threads", stream.threads()}});
    return;
  }
  if (o.output.to_standard_output()) return;
  print_links(document);
  if (o.estimator.estimator != Estimator::ksg)
    std::cout << "estimator: " << estimator_names[std::size_t(o.estimator.estimator)] << '\n';
  std::cout << "device: " << describe(stream) << ", " << duration(seconds.count()) << '\n';
}

/// The options that were typed, of those that say what is computed. Input options have done their work.
std::vector<std::string> typed_options(const CLI::App& command) {
  static const std::set<std::string> others = {"columns", "device", "exclude", "graph", "graph-all", "groups",
                                               "report",  "rows",   "strict",  "table", "threads"};
  std::vector<std::string> all;
  for (const Json& known : analysis_options("network")) {
    const std::string name = known["name"];
    const CLI::Option* option = command.get_option_no_throw("--" + name);
    if (!option || !option->count() || others.contains(name)) continue;
    std::string text = "--" + name;
    if (option->get_expected_min()) text += "=" + CLI::detail::join(option->results(), ",");
    all.push_back(text);
  }
  return all;
}

}  // namespace

void add_network(CLI::App& app, Context& context) {
  const auto flags = std::make_shared<NetworkFlags>();
  NetworkFlags& o = *flags;
  o.call = context.call;
  NetworkOptions& n = o.network;
  CLI::App* c =
      app.add_subcommand("network", "Who drives whom: transfer entropy between all pairs of columns");
  o.add(*c, 1000), o.add_trials(*c), o.add_strict(*c), o.add_estimator(*c);
  constexpr std::int64_t far = 1000000000;
  c->add_option("--columns", o.columns, "variables of the network; default all")->type_name("COLS");
  c->add_option("--exclude", o.excluded, "variables left out")->type_name("COLS");
  add_count(*c, "--max-lag", n.max_lag, 1, far, "lags 1 to N; a link's value is the largest over them");
  o.add_link(*c, EmbeddingRule::ais);
  c->add_option("--alpha", n.alpha, "level of significance")->capture_default_str()->type_name("A");
  add_choice(*c, "--correction", n.correction, correction_names,
             "for testing all pairs: Benjamini-Hochberg, Bonferroni or none");
  o.output.add(*c);
  if (!context.call)
    c->add_option("--scheduler", o.scheduler,
                  "compute on the Dask cluster with this scheduler, such as tcp://host:8786")
        ->type_name("ADDRESS");
  c->footer(
      "A link's p-value compares its largest transfer entropy over the lags with the same of every "
      "surrogate.\n"
      "Finished work is kept beside the output: after Ctrl-C the same command goes on.\n"
      "Example:\n  kolmo network data.csv --columns 1,2,3 --max-lag 4 --out network.json --report "
      "network.html\n" +
      std::string(columns_help));
  c->callback([flags, c, &context] {
    if (!flags->scheduler.empty()) flags->typed = typed_options(*c);
    run_network(*flags, context);
  });
}

}  // namespace kolmo::cli
