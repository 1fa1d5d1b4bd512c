#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <optional>
#include <thread>

#include "cli/commands.hpp"
#include "cli/selection.hpp"
#include "cli/top_view.hpp"
#include "kolmo/check/benchmark.hpp"
#include "kolmo/check/placement.hpp"
#include "kolmo/check/problem.hpp"
#include "kolmo/check/verifier.hpp"
#include "kolmo/io/json.hpp"
#include "kolmo/monitor/server.hpp"
#include "kolmo/runtime/monitor.hpp"
#include "kolmo/tune/shadow.hpp"
#include "kolmo/tune/store.hpp"

namespace kolmo::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct ServeFlags {
  std::vector<std::string> load;
  std::string filter;
  DeviceOptions device;
  double seconds = 0, pause = 0, tune_first = 0;
  bool tune_beside = false, json = false;
};

/// A problem of an operator that is run again and again.
struct OperatorLoad {
  const OpBase* op;
  check::Problem problem;
  check::Placement placed;

  OperatorLoad(const OpEntry& entry, std::size_t index, Stream& stream)
      : op(entry.op), problem(*op, op->cases()[index], index), placed(problem, stream) {}
};

/// Makes a load of the largest case whose name contains `filter`; without a filter, of the largest case of
/// moderate size.
std::unique_ptr<OperatorLoad> make_load(const std::string& name, const std::string& filter, Stream& stream) {
  const OpEntry& entry = find_op(name);
  const auto cases = entry.op->cases();
  std::unique_ptr<OperatorLoad> most;
  double most_work = -1;
  for (const std::size_t i : chosen_cases(entry, filter)) {
    if (filter.empty() && cases[i].benchmark_only) continue;
    auto load = std::make_unique<OperatorLoad>(entry, i, stream);
    const Cost c = cost(*entry.op, load->placed.args());
    if (const double work = c.flops + c.bytes_read + c.bytes_written; work > most_work)
      most = std::move(load), most_work = work;
  }
  if (!most) fail<InvalidArgument>("serve: " + name + " has only cases for benchmarks; name one with --case");
  return most;
}

std::vector<std::unique_ptr<OperatorLoad>> make_loads(const ServeFlags& o, Stream& stream) {
  std::vector<std::unique_ptr<OperatorLoad>> loads;
  for (const std::string& name : o.load) loads.push_back(make_load(name, o.filter, stream));
  return loads;
}

std::vector<tune::PlannedCall> planned(const std::vector<std::unique_ptr<OperatorLoad>>& loads) {
  std::vector<tune::PlannedCall> calls;
  for (const auto& load : loads) calls.push_back({load->op, load->placed.args()});
  return calls;
}

tune::CallOptions tuning_options(const Stream& stream) {
  tune::CallOptions options;
  options.measure.mode = tune::default_mode(stream.device().kind);
  options.verify = check::by_oracle(stream);
  return options;
}

void tune_first(const std::vector<std::unique_ptr<OperatorLoad>>& loads, Stream& stream, double seconds) {
  if (seconds <= 0) return;
  tune::Store store = tune::Store::writable_default();
  const std::size_t tuned =
      tune::tune_at_startup(planned(loads), stream, store, seconds, tuning_options(stream));
  std::fprintf(stderr, "kolmo: note: tuned %zu of %zu operators first\n", tuned, loads.size());
}

/// Shadow tuning of the load's operators, on separate tensors.
class TunedBeside {
 public:
  TunedBeside(const ServeFlags& o, Stream& stream) : scratch_(make_loads(o, stream)) {
    stream.synchronize();
    shadow_.emplace(planned(scratch_), stream.device(), tune::Store::writable_default(),
                    tuning_options(Stream::background(stream.device())));
  }

 private:
  std::vector<std::unique_ptr<OperatorLoad>> scratch_;
  std::optional<tune::Shadow> shadow_;  // the last member, so that it stops before the others are destroyed
};

void serve(const ServeFlags& o) {
  require(!o.load.empty() || (o.tune_first <= 0 && !o.tune_beside), "serve: there is no load to tune");
  require(!o.tune_beside || o.pause >= 0.01,
          "--tune-beside: the load needs a --pause of at least 0.01 s to tune in");
  const auto end = [&] {
    const std::chrono::duration<double> wanted(o.seconds);
    return o.seconds > 0 ? Clock::now() + std::chrono::duration_cast<Clock::duration>(wanted)
                         : Clock::time_point::max();
  };
  for (const std::string& name : o.load) require_case({&find_op(name)}, o.filter);
  if (o.load.empty()) {
    o.device.monitoring.begin();
    std::this_thread::sleep_until(end());
  } else {
    Stream stream = o.device.open();
    std::fprintf(stderr, "kolmo: note: load on %s\n", describe(stream).c_str());
    monitor::set_peaks(check::measured_peaks(stream));
    const auto loads = make_loads(o, stream);
    tune_first(loads, stream, o.tune_first);
    std::optional<TunedBeside> beside;
    if (o.tune_beside) beside.emplace(o, stream);
    constexpr int rounds = 32;  // launches of each operator that may be queued on a device
    const auto last = end();    // the duration begins after the load was prepared
    do {
      for (int i = 0; i < rounds; ++i)
        for (const auto& load : loads) run(*load->op, load->placed.args(), stream);
      stream.synchronize();
      std::this_thread::sleep_for(std::chrono::duration<double>(o.pause));
    } while (Clock::now() < last);
  }
  const auto last =
      parse_json<nlohmann::ordered_json>(monitor::fetch(metrics_url(), "/api/v1/snapshot?curves=1"), "serve");
  if (o.json)
    std::cout << last.dump(1) << '\n';
  else
    std::cout << top_text(last);
}

}  // namespace

void add_serve(CLI::App& app, Context&) {
  static ServeFlags o;
  o.device.monitoring.metrics = "127.0.0.1:9750";
  auto* c = app.add_subcommand("serve", "Serve metrics of this machine's devices, and of a load on them");
  c->add_option("OP", o.load, "operators to run one after the other; left out: none")->type_name("");
  c->add_option("--case", o.filter, "run the largest case with this text in its name")->type_name("TEXT");
  c->add_option("--seconds", o.seconds,
                "end after this time, with what was seen last; 0: go on until interrupted")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("S");
  c->add_option("--pause", o.pause, "without work, after each round of the load")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e3))
      ->type_name("S");
  c->add_option("--tune-first", o.tune_first,
                "tune the load for at most this time before it is served; results are kept, as those of tune")
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("S");
  c->add_flag("--tune-beside", o.tune_beside,
              "tune the load in its pauses, with at most 0.5 % of the device's time");
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
