#include <CLI/CLI.hpp>
#include <iostream>
#include <numeric>
#include <optional>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/option.hpp"
#include "cli/pipeline_load.hpp"
#include "cli/record.hpp"
#include "cli/table.hpp"
#include "kolmo/base/philox.hpp"
#include "kolmo/tune/statistics.hpp"

namespace kolmo::cli {
namespace {

using namespace pipeline_load;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct PipelineFlags {
  DeviceOptions device;
  std::int64_t kilobytes = 16384, items = 400, repeats = 5, parts = 1;
  std::vector<int> slots = {3, 4};
  double compute = 1, seconds = 1, objective = 10, spin = PipelineOptions{}.spin * 1e6;
  bool graph = false, json = false;
  std::string record;
};

struct Run {
  PipelineReport report;
  std::vector<double> latency;  // seconds since the item was due
  int wrong = 0;

  double quantile(double q) {
    if (latency.empty()) return 0;
    const auto at = latency.begin() + std::ptrdiff_t(q * double(latency.size() - 1));
    std::nth_element(latency.begin(), at, latency.end());
    return *at;
  }
};

/// Submits each item when it is due, even if the device is far behind; with no `arrivals`, as fast as
/// possible.
Run run_items(Item item, std::size_t count, const std::vector<double>& arrivals, Device device,
              const PipelineOptions& options) {
  Run run;
  run.latency.reserve(count);
  PipelineOptions o = options;
  if (!arrivals.empty()) o.queue = count;
  Measured pipeline(
      device, stages(),
      [&](auto& r) {
        if (r.error) std::rethrow_exception(r.error);
        run.latency.push_back(std::chrono::duration<double>(Clock::now() - r.item.due).count());
        run.wrong += r.value;
      },
      o);
  pipeline.measure_alone(item);
  const auto begin = Clock::now();
  for (item.index = 0; item.index < count; ++item.index) {
    item.due = Clock::now();
    if (!arrivals.empty()) {
      const std::chrono::duration<double> after(arrivals[item.index]);
      item.due = begin + std::chrono::duration_cast<Clock::duration>(after);
      std::this_thread::sleep_until(item.due - std::chrono::microseconds(100));
      while (Clock::now() < item.due) std::this_thread::yield();
    }
    pipeline.submit(item);
  }
  pipeline.drain();
  run.report = pipeline.report();
  return run;
}

std::vector<double> arrivals_at(double interval, bool poisson, std::size_t count, std::uint64_t seed) {
  std::vector<double> t(count);
  double now = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto r = Philox(seed)(i, 0);
    now += poisson ? -interval * std::log1p(-uniform53(r.w[0], r.w[1])) : interval;
    t[i] = now;
  }
  return t;
}

/// A configuration of the pipeline for which the largest rate is measured.
struct Arm {
  int slots;
  bool graph;
  std::vector<PipelineReport> runs = {};

  template <class F>
  double median(const F& of) const {
    std::vector<double> all;
    for (const PipelineReport& r : runs) all.push_back(of(r));
    return tune::median(std::move(all));
  }
  double per_item() const {
    return median([](auto& r) { return r.wall / double(r.done); });
  }
  double efficiency() const {
    return median([](auto& r) { return r.efficiency; });
  }
};

Json stages_json(const StageSeconds& s) {
  return {{"fill", s.fill},
          {"upload", s.upload},
          {"compute", s.compute},
          {"download", s.download},
          {"read", s.read}};
}

Json run_json(const PipelineReport& r) {
  const double serial = r.alone.upload + r.alone.compute + r.alone.download;
  return {{"alone_seconds", stages_json(r.alone)},
          {"copies_at_once_seconds", stages_json(r.together)},
          {"mean_seconds", stages_json(r.mean)},
          {"seconds_per_item", r.wall / double(r.done)},
          {"efficiency", r.efficiency},
          {"efficiency_limit", r.efficiency_limit},
          {"speedup_over_serial", serial * double(r.parts) / r.wall},
          {"overlap", r.overlap},
          {"at_once", r.at_once},
          {"bound", r.bound}};
}

/// Runs every arm `repeats` times, in rounds. Each round begins with a different arm.
std::vector<Arm> saturate(const PipelineFlags& o, const Item& item, Device device,
                          const PipelineOptions& options, int& wrong) {
  std::vector<Arm> arms;
  for (const int slots : o.slots)
    for (const bool graph : {false, true})
      if (!graph || !in_host_memory(device)) arms.push_back({slots, graph});
  for (std::size_t turn = 0; turn < std::size_t(o.repeats); ++turn)
    for (std::size_t i = 0; i < arms.size(); ++i) {
      Arm& arm = arms[(turn + i) % arms.size()];
      PipelineOptions with = options;
      with.slots = arm.slots, with.graph = arm.graph;
      const Run run = run_items(item, std::size_t(o.items), {}, device, with);
      arm.runs.push_back(run.report);
      wrong += run.wrong;
    }
  return arms;
}

constexpr std::size_t enough_runs = 5;  // fewer runs do not show that an objective is met

/// Latencies of the items of a run, in seconds, and the share of items within the objective.
struct Latencies {
  double p50, p99, p999, within;
};

/// Runs in which items arrive at a share of the largest rate.
struct Load {
  const char* arrivals;
  double share;
  std::size_t items;  // items of each run
  std::vector<Latencies> runs = {};

  double quantile(double Latencies::*of, double q) const {
    std::vector<double> all;
    for (const Latencies& l : runs) all.push_back(l.*of);
    return tune::quantile(std::move(all), q);
  }
  double median(double Latencies::*of) const { return quantile(of, .5); }
  /// Whether p99 of every run is within the objective. Empty if it is, but there are too few runs to say so.
  std::optional<bool> met(double objective) const {
    if (quantile(&Latencies::p99, 1) > objective) return false;
    return runs.size() >= enough_runs ? std::optional(true) : std::nullopt;
  }
};

/// Runs loads whose arrival rates are shares of 1 / `per_item`, with even or random arrivals. Every load is
/// run `repeats` times, in rounds that each begin with a different load; random arrivals differ from round to
/// round.
std::vector<Load> run_loads(const PipelineFlags& o, const Item& item, double per_item, Device device,
                            const PipelineOptions& options, int& wrong) {
  constexpr const char* names[] = {"paced", "Poisson"};
  std::vector<Load> loads;
  for (const char* arrivals : names)
    for (const double share : {.5, .7, .8, .9})
      loads.push_back({arrivals, share, std::size_t(std::clamp(o.seconds * share / per_item, 100., 1e6))});
  for (std::size_t turn = 0; turn < std::size_t(o.repeats); ++turn)
    for (std::size_t i = 0; i < loads.size(); ++i) {
      Load& l = loads[(turn + i) % loads.size()];
      const auto arrivals = arrivals_at(per_item / l.share, l.arrivals == names[1], l.items, turn + 1);
      Run run = run_items(item, l.items, arrivals, device, options);
      const auto within = std::count_if(run.latency.begin(), run.latency.end(),
                                        [&](double t) { return t <= options.objective; });
      l.runs.push_back(
          {run.quantile(.5), run.quantile(.99), run.quantile(.999), double(within) / double(l.items)});
      wrong += run.wrong;
    }
  return loads;
}

/// The largest load such that it and all smaller loads meet the objective; 0 if the smallest one does not.
double largest_met(const std::vector<Load>& loads, std::string_view arrivals, double objective) {
  double largest = 0;
  for (const Load& l : loads)
    if (l.arrivals == arrivals) {
      if (l.met(objective) != true) break;
      largest = l.share;
    }
  return largest;
}

Json loads_json(const std::vector<Load>& loads, double objective) {
  Json all = Json::array();
  for (const Load& l : loads) {
    Json runs = Json::array();
    for (const Latencies& r : l.runs)
      runs.push_back({{"p50", r.p50}, {"p99", r.p99}, {"p99_9", r.p999}, {"within_objective", r.within}});
    const auto met = l.met(objective);
    all.push_back({{"arrivals", l.arrivals},
                   {"load", l.share},
                   {"items", l.items},
                   {"p50", l.median(&Latencies::p50)},
                   {"p99", l.median(&Latencies::p99)},
                   {"p99_range", {l.quantile(&Latencies::p99, 0), l.quantile(&Latencies::p99, 1)}},
                   {"p99_9", l.median(&Latencies::p999)},
                   {"within_objective", l.median(&Latencies::within)},
                   {"meets_objective", met ? Json(*met) : Json()},
                   {"runs", std::move(runs)}});
  }
  return all;
}

void print_loads(const std::vector<Load>& loads, double objective) {
  const std::string limit = duration(objective);
  const std::size_t runs = loads.front().runs.size();
  std::cout << "\nlatencies at a load, medians of " << runs << (runs == 1 ? " run" : " runs") << '\n';
  TextTable table({"arrivals", ">load", ">items a run", ">p50", ">p99", ">lowest to highest", ">p99.9",
                   ">within " + limit, "p99 within " + limit});
  for (const Load& l : loads) {
    const auto met = l.met(objective);
    table.add({l.arrivals, percent(l.share, 2), std::to_string(l.items), duration(l.median(&Latencies::p50)),
               duration(l.median(&Latencies::p99)),
               duration(l.quantile(&Latencies::p99, 0)) + " to " + duration(l.quantile(&Latencies::p99, 1)),
               duration(l.median(&Latencies::p999)), percent(l.median(&Latencies::within)),
               met ? *met ? "yes" : "NO" : "too few runs"});
  }
  table.print(std::cout);
  for (const char* arrivals : {"paced", "Poisson"}) {
    const double load = largest_met(loads, arrivals, objective);
    const auto first =
        std::find_if(loads.begin(), loads.end(), [&](auto& l) { return l.arrivals == arrivals; });
    std::cout << arrivals << " arrivals: p99 of every run within " << limit
              << (load > 0                ? " up to a load of " + percent(load, 2)
                  : first->met(objective) ? " at no measured load"
                                          : ": not known, " + std::to_string(enough_runs) +
                                                " runs or more are needed (--repeats)")
              << '\n';
  }
}

void print(const std::vector<Arm>& arms, bool copies) {
  const PipelineReport& r = arms.front().runs.front();
  std::cout << "alone: upload " << duration(r.alone.upload) << ", compute " << duration(r.alone.compute)
            << ", download " << duration(r.alone.download);
  if (copies)
    std::cout << ";\ncopies while the others run: upload " << duration(r.together.upload) << ", download "
              << duration(r.together.download) << ": efficiency at most " << percent(r.efficiency_limit);
  std::cout << "\n\nas fast as possible, medians of " << arms.front().runs.size() << " runs\n";
  TextTable full(
      {"slots", "kernels", ">an item", ">efficiency", ">two stages at once", ">three", "bound by"});
  for (const Arm& a : arms)
    full.add({std::to_string(a.slots), a.graph ? "in a graph" : "one by one", duration(a.per_item()),
              percent(a.efficiency()), percent(a.median([](auto& p) { return p.at_once[1]; })),
              percent(a.median([](auto& p) { return p.at_once[2]; })), std::string(a.runs.back().bound)});
  full.print(std::cout);
}

void measure(const PipelineFlags& o, Context& context) {
  const Stream stream = o.device.open();
  const Device device = stream.device();
  PipelineOptions options{.name = "measured",
                          .slots = o.slots.front(),
                          .objective = o.objective * 1e-3,
                          .spin = o.spin * 1e-6,
                          .cpu_threads = o.device.threads};
  Item item{std::size_t(o.kilobytes) << 10, 1, int(o.parts)};
  item.kernels = kernels_for(o.compute, item, device, options);
  int wrong = 0;
  const std::vector<Arm> arms = saturate(o, item, device, options, wrong);
  options.graph = o.graph && !in_host_memory(device);
  const double per_item = arms[options.graph].per_item();
  const std::vector<Load> loads = run_loads(o, item, per_item, device, options, wrong);
  if (wrong) fail<DeviceError>("pipeline: " + std::to_string(wrong) + " results are wrong");

  Json results{{"bytes", item.bytes},
               {"kernels", item.kernels},
               {"items", o.items},
               {"parts", o.parts},
               {"spin_seconds", options.spin}};
  for (const Arm& a : arms) {
    Json runs = Json::array();
    for (const PipelineReport& r : a.runs) runs.push_back(run_json(r));
    results["saturated"].push_back({{"slots", a.slots},
                                    {"graph", a.graph},
                                    {"seconds_per_item", a.per_item()},
                                    {"efficiency", a.efficiency()},
                                    {"runs", std::move(runs)}});
  }
  results["objective_seconds"] = options.objective;
  results["loads_of"] = {{"slots", options.slots}, {"graph", options.graph}};
  results["loads"] = loads_json(loads, options.objective);
  for (const char* arrivals : {"paced", "Poisson"})
    results["largest_load_that_meets_objective"][arrivals] = largest_met(loads, arrivals, options.objective);
  Record record("pipeline", device, context.command_line);
  record.add(find_op("vector_add"), std::move(results));
  if (!o.record.empty()) record.write(o.record);
  if (o.json) {
    std::cout << record.json().dump(2) << '\n';
    return;
  }
  std::cout << "device: " << describe(stream) << "\n"
            << o.kilobytes << " KiB up and down, " << item.kernels << " kernels each; ";
  print(arms, !in_host_memory(device));
  print_loads(loads, options.objective);
}

}  // namespace

void add_pipeline(CLI::App& app, Context& context) {
  static PipelineFlags o;
  CLI::App* c = app.add_subcommand("pipeline", "Measure how well uploads, computing and downloads overlap");
  o.device.add(*c);
  add_count(*c, "--kilobytes", o.kilobytes, 1, 1 << 20, "KiB of an item, each way");
  c->add_option("--compute", o.compute,
                "time of the compute stage over that of the upload, roughly; not on the CPU")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 100.))
      ->type_name("RATIO");
  add_count(*c, "--items", o.items, 10, 1000000, "items of a run as fast as possible");
  add_count(*c, "--repeats", o.repeats, 1, 1000, "runs as fast as possible, of each kind, and at each load");
  c->add_option("--slots", o.slots,
                "items between upload and download; the first number is that of the loads")
      ->capture_default_str()
      ->delimiter(',')
      ->check(CLI::Range(2, 8))
      ->type_name("N");
  add_count(*c, "--parts", o.parts, 1, 64, "parts an item is split into");
  c->add_option("--spin", o.spin, "how long threads look for work before they sleep")
      ->capture_default_str()
      ->check(CLI::Range(0., 1e6))
      ->type_name("US");
  c->add_flag("--graph", o.graph, "replay a graph of the kernels where items arrive at a load");
  c->add_option("--seconds", o.seconds, "length of a run at a load, which has 100 items or more")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 1000.))
      ->type_name("S");
  c->add_option("--objective", o.objective, "latency to count against")
      ->capture_default_str()
      ->check(CLI::Range(1e-3, 1e9))
      ->type_name("MS");
  add_output(*c, "--record", o.record, "write the results here")->type_name("FILE.json");
  c->add_flag("--json", o.json, "print one JSON object");
  c->footer(
      "Items go through as fast as possible, with kernels queued one by one and in graphs, which gives the\n"
      "efficiency: the slowest stage by itself over the time per item. Copies in both directions at once "
      "give\n"
      "the most that the link allows. Then items arrive at 50 to 90 % of the rate of the first --slots,\n"
      "evenly or at random; latency runs from when an item is due. The objective is met where p99 of each "
      "of\n"
      "5 runs or more is within it.\n"
      "Example:\n  kolmo pipeline --device cuda --slots 3,4 --record pipeline.json");
  c->callback([&context] { measure(o, context); });
}

}  // namespace kolmo::cli
