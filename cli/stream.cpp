#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <iomanip>
#include <iostream>
#include <mutex>

#include "cli/analysis.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/option.hpp"
#include "cli/table.hpp"
#include "kolmo/flow/analysis/variables.hpp"
#include "kolmo/flow/estimate/neighbors.hpp"
#include "kolmo/flow/infer/transfer_entropy_windows.hpp"
#include "kolmo/flow/request/options_json.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/row_stream.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view backpressure_names[] = {"block", "reject", "drop-oldest"};

/// Transfer entropy in windows: its options are those of one link, of rows that come one after the other.
struct StreamRequest : TestedRequest {
  Columns source, target, given;
  WindowOptions windows;

  static constexpr auto fields() {
    using R = StreamRequest;
    return join(
        list_of(columns_option<&R::source>("source", "the source's column").needed(),
                columns_option<&R::target>("target", "the target's column").needed(),
                lagged_option<&R::given>("given", "variables conditioned on, as for kolmo te")),
        within<&R::windows>(list_of(
            value_option<&WindowOptions::window>("window", 2, max_rows, "rows in a window"),
            value_option<&WindowOptions::step>("step", 1, max_rows, "rows from one window to the next"),
            value_option<&WindowOptions::lag>(
                "lag", 1, max_rows, "rows from the newest source value to the target's next value"))),
        within<&R::windows>(within<&WindowOptions::target_past>(
            list_of(value_option<&Embedding::history>("target_history", 1, 16, "past values of the target"),
                    value_option<&Embedding::tau>("target_tau", 1, max_rows, "rows between them")))),
        within<&R::windows>(within<&WindowOptions::source_past>(
            list_of(value_option<&Embedding::history>("source_history", 1, 16, "past values of the source"),
                    value_option<&Embedding::tau>("source_tau", 1, max_rows, "rows between them")))),
        inherited<R, AnalysisRequest>(with_help(
            "device", "the device that computes: auto, cpu, cuda, cuda:N or simt (emulated GPU)",
            without("rows",
                    without("trials",
                            without("time", without("where",
                                                    without("strict", AnalysisRequest::common_fields()))))))),
        inherited<R, TestedRequest>(TestedRequest::test_fields()));
  }
};

struct StreamFlags : AnalysisFlags {
  StreamRequest request;
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
  handle_ending_signals(action);
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
  std::string_view unit() const { return unit_names[std::size_t(o_.request.units)]; }
  static std::string reason(const WindowResult& w) {
    return w.outcome == PipelineOutcome::dropped ? "dropped" : w.error;
  }
  Json json(const WindowResult& w) const {
    Json j{{"first_row", w.first},
           {"last_row", w.last},
           {"measure", "te"},
           {"of", what_},
           {"value", w.value * o_.request.factor()},
           {"units", unit()},
           {"samples", w.samples},
           {"p_value", w.p_value},
           {"latency_seconds", w.latency}};
    if (!reason(w).empty()) j["error"] = reason(w);
    if (!w.constant.empty()) j["warnings"] = {{{"name", "constant_run"}, {"text", w.constant}}};
    return j;
  }
  void text(const WindowResult& w) {
    const bool tested = o_.request.estimator.surrogates > 0;
    if (!titled_) {
      std::cout << "   first row     last row  samples  " << std::setw(11) << unit();
      std::cout << (tested ? "    p-value" : "") << '\n';
      titled_ = true;
    }
    const std::string why = reason(w);
    std::cout << std::setw(12) << w.first << ' ' << std::setw(12) << w.last << ' ' << std::setw(8)
              << w.samples << "  " << std::setw(11)
              << (why.empty() ? significant(w.value * o_.request.factor(), 6) : "-");
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
  static constexpr auto fields = StreamRequest::fields();
  Json j{{"file", o.file}};
  j.update(o.input.used());
  for (const OptionInfo& option : fields)
    if (!option.aside && option.name != "p_value")
      if (Json value = option.json(&o.request); !value.is_null())
        j[std::string(option.name)] = std::move(value);
  j["p_value_convention"] = p_value_formula(o.request.p_value);
  j["backpressure"] = backpressure_names[std::size_t(o.backpressure)];
  j["queue"] = o.queue, j["slots"] = o.slots, j["deadline_ms"] = o.deadline;
  return j;
}

void warn_of(const Table& table) {
  for (const Remark& r : table.remarks) print_warning({r.name, r.text});
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
    std::fprintf(stderr, "; latency p50 %s, p95 %s, p99 %s, %s %% within %s", duration(r.p50).c_str(),
                 duration(r.p95).c_str(), duration(r.p99).c_str(),
                 significant(100 * r.within_objective, 3).c_str(), duration(r.objective).c_str());
  std::fprintf(stderr, "; device: %s\n", describe(stream).c_str());
}

void run(StreamFlags& o, Context& context) {
  StreamRequest& r = o.request;
  r.preparation.seed = r.estimator.seed, r.estimator.f32 = r.precision == Precision::f32;
  require(o.file != "-" || !o.follow, "--follow: needs a file; a pipe is read until it is closed");
  require(parse_devices(r.device).size() == 1, "--device: stream computes on one device, not on " + r.device);
  const Stream stream = o.open(r)[0];
  stop_on_signals();
  RowStream rows(o.file, o.follow, stop, o.input.table());
  if (!stop) {
    Variables v(rows.head());
    WindowOptions& w = r.windows;
    w.source = v.add_one(r.source, "--source"), w.target = v.add_one(r.target, "--target");
    require(w.source != w.target, "stream: source and target are the same column");
    const std::int32_t link[] = {w.source, w.target};
    w.given = conditions(r.given, v, link);
    w.preparation = r.preparation, w.estimator = r.estimator, w.p_value = r.p_value;
    Lines lines(o, v.label(w.source) + " -> " + v.label(w.target));
    const PipelineOptions pipeline{.name = "stream",
                                   .slots = int(o.slots),
                                   .queue = std::size_t(o.queue),
                                   .backpressure = o.backpressure,
                                   .deadline = o.deadline * 1e-3,
                                   .objective = o.objective * 1e-3,
                                   .cpu_threads = int(r.threads)};
    TransferEntropyWindows windows(rows.head(), v.columns(), w, stream.device(), pipeline,
                                   [&](const WindowResult& r) { lines.print(r); });
    r.estimator = windows.estimator();
    if (r.estimator.neighbors_chosen) print_note(neighbors_note(r.estimator));
    std::int64_t count = 0;
    for (std::vector<double> row; rows.next(v.columns(), row); ++count) {
      if (!windows.add(row)) {
        WindowResult lost{.first = count + 1 - w.window, .last = count};
        lost.error = "refused";
        lines.print(lost);
      }
      if (count + 1 == RowStream::judged_rows) warn_of(rows.head());
    }
    if (count < RowStream::judged_rows) warn_of(rows.head());
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
  static constexpr auto fields = StreamRequest::fields();
  o.add(*c, fields, &o.request);
  c->remove_option(c->get_option("--transpose"));
  c->get_option("FILE")->description(
      "CSV, TSV or whitespace columns with % or # comments; - reads standard input");
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
      "Every window is prepared by itself: its line is what `kolmo te --rows FIRST:LAST+1` prints with its "
      "number of\n"
      "neighbours. --neighbors auto chooses that once, for windows without missing values; a note and the "
      "summary name it.\n"
      "Rows count from 0. A window that cannot be estimated shows why and the stream goes on; a cell that\n"
      "is no number ends it. With --json a line is an object, and the last one holds the summary.\n"
      "Example:\n  tail -n +1 -f live.csv | kolmo stream - --source 0 --target 1 --window 500 --step 50\n"
      "  kolmo stream live.csv --follow --source x --target y --window 500 --step 50 --surrogates 100 "
      "--json\n"
      "COL is one column. " +
      std::string(columns_help));
  c->callback([&context] { run(o, context); });
}

}  // namespace kolmo::cli
