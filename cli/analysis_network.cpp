#include <CLI/CLI.hpp>
#include <chrono>
#include <future>
#include <iostream>
#include <memory>
#include <optional>

#include "cli/analysis.hpp"
#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/interrupt.hpp"
#include "cli/network_output.hpp"
#include "cli/scheduler.hpp"
#include "kolmo/flow/analysis/catalogue.hpp"
#include "kolmo/flow/analysis/network_analysis.hpp"
#include "kolmo/flow/request/settle.hpp"
#include "kolmo/flow/result/network_json.hpp"

namespace kolmo::cli {
namespace {

struct NetworkFlags : AnalysisFlags {
  NetworkRequest request;
  std::string scheduler;
  NetworkOutput output;
};

void say_where_work_is(const std::string& checkpoint) {
  std::string text = "\nkolmo: interrupted";
  if (!checkpoint.empty())
    text += "; finished work is in " + checkpoint + ", the same command goes on from there";
  text += "\n";
  say_at_interrupt(text);  // finished work is on disk; SQLite rolls back the rest
}

/// Computes on a cluster what `work` lacks, and adds it there.
void gather(const NetworkFlags& o, const NetworkAnalysis& analysis, const Session& session, KeptWork& work) {
  NetworkRequest request = analysis.request();
  request.device = o.request.device, request.threads = o.request.threads;
  request.rows.clear(), request.where.clear();  // the table holds the chosen rows, and what is known of them
  request.trials.text.clear(), request.time.text = session.table.steps.empty() ? "none" : "";
  if (request.columns.empty())
    for (const std::size_t c : session.rows().columns) request.exclude.add(std::int64_t(c));
  const ClusterWork problem{request, session.table, analysis.unfinished(work.all()), work.all()};
  Progress progress(double(problem.targets.size()), "targets");
  if (!problem.targets.empty()) run_on_cluster(o.scheduler, problem, work, progress);
}

void print(const NetworkFlags& o, const NetworkDocument& document, const Streams& streams, double seconds) {
  if (o.json) {
    std::cout << network_text(document, streams.threads(),
                              {{"seconds", seconds}, {"threads", streams.threads()}});
    return;
  }
  if (o.output.to_standard_output()) return;
  print_links(document);
  if (const Estimator e = document.request.estimator.estimator; e != Estimator::ksg)
    std::cout << "estimator: " << estimator_names[std::size_t(e)] << '\n';
  std::cout << "device: " << describe(streams) << ", " << duration(seconds) << '\n';
}

void run_network(NetworkFlags& o, const Context& context) {
  o.output.check();
  static constexpr auto fields = NetworkRequest::fields();
  const NetworkRequest request = settled(o.request);
  o.check_given(fields, request.estimator);
  std::future<Streams> opening =
      std::async(std::launch::async, [&] { return o.open(request); });  // CUDA starts slowly
  Session session = o.load();
  NetworkAnalysis analysis(request, session);

  const std::string partial = o.output.checkpoint();
  declare_output("checkpoint", partial);
  std::optional<Checkpoint> checkpoint;
  if (!partial.empty()) checkpoint.emplace(partial, analysis.key());
  if (checkpoint && !checkpoint->finished().empty()) session.note("going on from " + partial);
  if (checkpoint)
    checkpoint->when_failed([&session](const std::string& why) {
      say_at_interrupt("\nkolmo: interrupted; not all finished work was kept\n");
      session.note(why + "; work that is finished from here on is not kept");
    });
  say_where_work_is(partial);

  const Streams streams = opening.get();
  const auto begin = std::chrono::steady_clock::now();
  std::optional<KeptWork> gathered;
  if (!o.scheduler.empty()) {
    KeptWork collected({}, checkpoint ? &*checkpoint : nullptr);
    gather(o, analysis, session, collected);
    gathered.emplace(collected.all());
  }
  FinishedWork* const work = gathered     ? static_cast<FinishedWork*>(&*gathered)
                             : checkpoint ? &*checkpoint
                                          : nullptr;
  const Network network = analysis.infer(streams, work);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;

  ignore_interrupts();  // the result is written as a whole
  const NetworkDocument document = analysis.document(network, context.command_line, streams, o.file);
  o.output.write(document, analysis.shown(), streams.threads());
  if (checkpoint) checkpoint->remove();
  session.warn({document.warnings.begin() + std::ptrdiff_t(session.warnings.size()), document.warnings.end()},
               request);
  print(o, document, streams, seconds.count());
}

}  // namespace

void add_network(CLI::App& app, Context& context) {
  const AnalysisInfo& info = find_analysis("network");
  const auto flags = std::make_shared<NetworkFlags>();
  CLI::App* const c = app.add_subcommand("network", std::string(info.summary));
  flags->add(*c, info.options, &flags->request);
  flags->output.add(*c);
  c->add_option("--scheduler", flags->scheduler,
                "compute on the Dask cluster with this scheduler, such as tcp://host:8786")
      ->type_name("ADDRESS");
  c->footer(std::string(info.about) + "\nExample:\n  " + std::string(info.example) + "\n" + columns_help);
  c->callback([flags, &context] { run_network(*flags, context); });
}

}  // namespace kolmo::cli
