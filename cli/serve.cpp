#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <limits>
#include <thread>

#include "cli/commands.hpp"
#include "cli/selection.hpp"
#include "cli/top.hpp"
#include "kolmo/check/benchmark.hpp"
#include "kolmo/check/placement.hpp"
#include "kolmo/check/problem.hpp"
#include "kolmo/monitor/server.hpp"
#include "kolmo/runtime/monitor.hpp"

namespace kolmo::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::vector<std::string> load;
  std::string filter;
  DeviceOptions device;
  double seconds = 0;
  bool json = false;
};

/// One problem of an operator, ready to run again and again.
struct Load {
  const OpBase* op;
  check::Problem problem;
  check::Placement placed;

  Load(const OpEntry& entry, std::size_t index, Stream& stream)
      : op(entry.op), problem(*op, op->cases()[index], index), placed(problem, stream) {}
};

/// The case with most to do among those whose name holds `filter`; without one, among those of moderate size.
std::unique_ptr<Load> make_load(const std::string& name, const std::string& filter, Stream& stream) {
  const OpEntry& entry = find_op(name);
  const auto cases = entry.op->cases();
  std::unique_ptr<Load> most;
  double most_work = -1;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!entry.has(cases[i]) || cases[i].name.find(filter) == std::string_view::npos) continue;
    if (filter.empty() && cases[i].benchmark_only) continue;
    auto load = std::make_unique<Load>(entry, i, stream);
    const Cost c = cost(*entry.op, load->placed.args());
    if (const double work = c.flops + c.bytes_read + c.bytes_written; work > most_work)
      most = std::move(load), most_work = work;
  }
  if (!most) fail<InvalidArgument>("--case: " + name + " has no case with '" + filter + "' in its name");
  return most;
}

void serve(const Options& o) {
  const auto end = [&] {
    const std::chrono::duration<double> wanted(o.seconds);
    return o.seconds > 0 ? Clock::now() + std::chrono::duration_cast<Clock::duration>(wanted)
                         : Clock::time_point::max();
  };
  for (const std::string& name : o.load) find_op(name);
  if (o.load.empty()) {
    o.device.monitoring.begin();
    std::this_thread::sleep_until(end());
  } else {
    Stream stream = o.device.open();
    std::fprintf(stderr, "kolmo: note: load on %s\n", describe(stream).c_str());
    monitor::set_peaks(check::measured_peaks(stream));
    std::vector<std::unique_ptr<Load>> loads;
    for (const std::string& name : o.load) loads.push_back(make_load(name, o.filter, stream));
    constexpr int rounds = 32;  // launches of each that a device may have before it
    const auto last = end();    // the time to prepare the load is not part of it
    do {
      for (int i = 0; i < rounds; ++i)
        for (const auto& load : loads) run(*load->op, load->placed.args(), stream);
      stream.synchronize();
    } while (Clock::now() < last);
  }
  const auto last = nlohmann::ordered_json::parse(monitor::fetch(metrics_url(), "/api/v1/snapshot?curves=1"));
  if (o.json)
    std::cout << last.dump(1) << '\n';
  else
    print_snapshot(std::cout, last, std::numeric_limits<std::size_t>::max());
}

}  // namespace

void add_serve(CLI::App& app, Context&) {
  static Options o;
  o.device.monitoring.metrics = "127.0.0.1:9750";
  auto* c = app.add_subcommand("serve", "Serve metrics of this machine's devices, and of a load on them");
  c->add_option("OP", o.load, "operators to run one after the other without a pause; left out: none")
      ->type_name("");
  c->add_option("--case", o.filter, "run the largest case with this text in its name")->type_name("TEXT");
  c->add_option("--seconds", o.seconds,
                "end after this time, with what was seen last; 0: go on until interrupted")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("S");
  c->add_flag("--json", o.json, "print what was seen last as JSON, with the curves of the last five minutes");
  o.device.add(*c);
  c->footer(
      "Serves at 127.0.0.1:9750 unless told. Every command that works on a device serves its own metrics "
      "with "
      "--metrics.\n\nExamples:\n  kolmo serve --metrics 127.0.0.1:9750\n  kolmo serve vector_add --device "
      "cuda "
      "--seconds 60 --json");
  c->callback([] { serve(o); });
}

}  // namespace kolmo::cli
