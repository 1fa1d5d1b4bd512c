#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <iomanip>
#include <iostream>
#include <mutex>

#include "cli/analysis_options.hpp"
#include "cli/commands.hpp"
#include "cli/table.hpp"
#include "kolmo/flow/infer/transfer_entropy_windows.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/row_stream.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view backpressure_names[] = {"block", "reject", "drop-oldest"};

struct StreamFlags : AnalysisOptions {
  std::string source, target, given;
  WindowOptions windows;
  std::int64_t slots = 3, queue = 16;
  Backpressure backpressure = Backpressure::block;
  double deadline = 0, objective = 10;  // milliseconds
  bool follow = false;
};

std::atomic<bool> stop = false;
extern "C" void on_stop(int) { stop = true; }

/// Has the first signal end the stream after the windows at work, and the second one end the process at once.
void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = on_stop;
  action.sa_flags = SA_RESETHAND;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

/// Prints windows when they are finished or refused. Several threads may call it.
class Lines {
 public:
  Lines(const StreamFlags& o, const std::string& what) : o_(o), what_(what) {}

  void print(const WindowResult& w) {
    const std::scoped_lock lock(mutex_);
    if (o_.json)
      std::cout << json(w).dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    else
      text(w);
    if (!std::cout.flush()) {
      stop = true;
      fail<DeviceError>("cannot write to standard output");
    }
  }

 private:
  static std::string reason(const WindowResult& w) {
    return w.outcome == PipelineOutcome::dropped ? "dropped" : w.error;
  }
  Json json(const WindowResult& w) const {
    Json j{{"first_row", w.first},
           {"last_row", w.last},
           {"measure", "te"},
           {"of", what_},
           {"value", w.value * o_.factor()},
           {"units", o_.unit()},
           {"samples", w.samples},
           {"p_value", w.p_value},
           {"latency_seconds", w.latency}};
    if (!reason(w).empty()) j["error"] = reason(w);
    if (!w.constant.empty()) j["warnings"] = {{{"name", "constant_run"}, {"text", w.constant}}};
    return j;
  }
  void text(const WindowResult& w) {
    const bool tested = o_.estimator.surrogates > 0;
    if (!titled_) {
      std::cout << "   first row     last row  samples  " << std::setw(11) << o_.unit();
      std::cout << (tested ? "    p-value" : "") << '\n';
      titled_ = true;
    }
    const std::string why = reason(w);
    std::cout << std::setw(12) << w.first << ' ' << std::setw(12) << w.last << ' ' << std::setw(8)
              << w.samples << "  " << std::setw(11)
              << (why.empty() ? significant(w.value * o_.factor(), 6) : "-");
    if (tested) std::cout << ' ' << std::setw(10) << (why.empty() ? significant(w.p_value, 3) : "-");
    if (!w.constant.empty()) std::cout << "  constant_run: " << printable(w.constant, 200);
    std::cout << (why.empty() ? "" : "  " + why) << '\n';
  }

  const StreamFlags& o_;
  const std::string what_;
  std::mutex mutex_;
  bool titled_ = false;
};

Json used_options(const StreamFlags& o) {
  const WindowOptions& w = o.windows;
  Json j = o.used();
  j["source"] = o.source, j["target"] = o.target;
  if (!o.given.empty()) j["given"] = o.given;
  j["window"] = w.window, j["step"] = w.step, j["lag"] = w.lag;
  j["target_history"] = w.target_past.history, j["target_tau"] = w.target_past.tau;
  j["source_history"] = w.source_past.history, j["source_tau"] = w.source_past.tau;
  j["backpressure"] = backpressure_names[std::size_t(o.backpressure)];
  j["queue"] = o.queue, j["slots"] = o.slots, j["deadline_ms"] = o.deadline;
  return j;
}

void summarize(const PipelineReport& r, const StreamFlags& o, const Stream& stream) {
  if (o.json) {
    const Json summary{{"windows", r.submitted + r.rejected},
                       {"done", r.done},
                       {"failed", r.failed},
                       {"dropped", r.dropped},
                       {"refused", r.rejected},
                       {"latency_seconds", {{"p50", r.p50}, {"p95", r.p95}, {"p99", r.p99}}},
                       {"objective_seconds", r.objective},
                       {"within_objective", r.within_objective},
                       {"bound", r.bound},
                       {"device", to_string(stream.device())},
                       {"options", used_options(o)}};
    std::cout << Json{{"summary", summary}}.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
    return;
  }
  std::cout.flush();
  const unsigned long long all = r.submitted + r.rejected;
  std::fprintf(stderr, "kolmo: note: %llu windows", all);
  for (const auto& [count, name] :
       {std::pair(r.failed, "failed"), {r.dropped, "dropped"}, {r.rejected, "refused"}})
    if (count) std::fprintf(stderr, ", %llu %s", static_cast<unsigned long long>(count), name);
  if (r.done)
    std::fprintf(stderr, "; latency p50 %s, p95 %s, p99 %s, %.3g %% within %s", duration(r.p50).c_str(),
                 duration(r.p95).c_str(), duration(r.p99).c_str(), 100 * r.within_objective,
                 duration(r.objective).c_str());
  std::fprintf(stderr, "; device: %s\n", describe(stream).c_str());
}

void run(StreamFlags& o, Context& context) {
  o.prepare();
  require(o.file != "-" || !o.follow, "--follow: needs a file; a pipe is read until it is closed");
  const Stream stream = o.device.open();
  stop_on_signals();
  RowStream rows(o.file, o.follow, stop, o.input.table());
  if (!stop) {
    Variables v(rows.head());
    WindowOptions& w = o.windows;
    w.source = v.add_one(o.source, "--source"), w.target = v.add_one(o.target, "--target");
    if (!o.given.empty()) w.given = v.add_lagged(o.given, "--given");
    require(w.source != w.target, "stream: source and target are the same column");
    for (const Coordinate& g : w.given)
      require(g.variable != w.source && g.variable != w.target,
              "stream: --given names the source or the target, '" + v.label(g.variable) + "'");
    w.preparation = o.preparation, w.estimator = o.estimator, w.p_value = o.p_value;
    Lines lines(o, v.label(w.source) + " -> " + v.label(w.target));
    const PipelineOptions pipeline{.name = "stream",
                                   .slots = int(o.slots),
                                   .queue = std::size_t(o.queue),
                                   .backpressure = o.backpressure,
                                   .deadline = o.deadline * 1e-3,
                                   .objective = o.objective * 1e-3,
                                   .cpu_threads = o.device.threads};
    TransferEntropyWindows windows(rows.head(), v.columns(), w, stream.device(), pipeline,
                                   [&](const WindowResult& r) { lines.print(r); });
    std::int64_t count = 0;
    for (std::vector<double> row; rows.next(v.columns(), row); ++count) {
      if (!windows.add(row)) {
        WindowResult lost{.first = count + 1 - w.window, .last = count};
        lost.error = "refused";
        lines.print(lost);
      }
      if (count + 1 == RowStream::judged_rows) o.warn_of(rows.head());
    }
    if (count < RowStream::judged_rows) o.warn_of(rows.head());
    windows.drain();
    if (count < w.window && !stop)
      fail<InvalidArgument>(rows.head().file + ": " + std::to_string(count) +
                            " rows are fewer than a window of " + std::to_string(w.window));
    summarize(windows.report(), o, stream);
  }
  if (stop) {
    std::fputs("kolmo: interrupted\n", stderr);
    context.status = 130;
  }
}

}  // namespace

void add_stream(CLI::App& app, Context& context) {
  static StreamFlags o;
  CLI::App* c =
      app.add_subcommand("stream", "Transfer entropy in windows of a series that is still coming in");
  o.add(*c, 0);
  c->remove_option(c->get_option("--rows"));
  c->remove_option(c->get_option("--transpose"));
  c->get_option("FILE")->description(
      "CSV, TSV or whitespace columns with % or # comments; - reads standard input");
  constexpr std::int64_t far = 1000000000;
  WindowOptions& w = o.windows;
  c->add_option("--source", o.source, "the source's column")->required()->type_name("COL");
  c->add_option("--target", o.target, "the target's column")->required()->type_name("COL");
  c->add_option("--given", o.given, "variables conditioned on, as for kolmo te")->type_name("COL[:LAGS],...");
  add_count(*c, "--window", w.window, 2, far, "rows in a window");
  add_count(*c, "--step", w.step, 1, far, "rows from one window to the next");
  add_count(*c, "--target-history", w.target_past.history, 1, 16, "past values of the target");
  add_count(*c, "--target-tau", w.target_past.tau, 1, far, "rows between them");
  add_count(*c, "--source-history", w.source_past.history, 1, 16, "past values of the source");
  add_count(*c, "--source-tau", w.source_past.tau, 1, far, "rows between them");
  add_count(*c, "--lag", w.lag, 1, far, "rows from the newest source value to the target's next value");
  c->add_flag("--follow", o.follow, "at the end of FILE wait for more, until Ctrl-C");
  add_choice(
      *c, "--backpressure", o.backpressure, backpressure_names,
      "when windows come faster than they are computed: read no further, leave out the new one, or the "
      "one that has waited longest; what is left out has its line");
  add_count(*c, "--queue", o.queue, 1, 100000, "windows that may wait");
  add_count(*c, "--slots", o.slots, 2, 8, "windows between upload and download");
  c->add_option("--deadline", o.deadline, "leave out windows that have waited longer; 0: none")
      ->capture_default_str()
      ->check(CLI::Range(0., 1e9))
      ->type_name("MS");
  c->add_option("--objective", o.objective, "latency that the summary counts against")
      ->capture_default_str()
      ->check(CLI::Range(1e-3, 1e9))
      ->type_name("MS");
  c->footer(
      "Every window is prepared by itself: its line is what `kolmo te --rows FIRST:LAST+1` prints. Rows "
      "count\n"
      "from 0. A window that cannot be estimated shows why and the stream goes on; a cell that is no number\n"
      "ends it. With --json a line is an object, and the last one holds the summary.\n"
      "Example:\n  tail -n +1 -f live.csv | kolmo stream - --source 0 --target 1 --window 500 --step 50\n"
      "  kolmo stream live.csv --follow --source x --target y --window 500 --step 50 --surrogates 100 "
      "--json\n"
      "COL is one column. " +
      std::string(columns_help));
  c->callback([&context] { run(o, context); });
}

}  // namespace kolmo::cli
