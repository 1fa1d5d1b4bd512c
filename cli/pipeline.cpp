#include "kolmo/runtime/pipeline/pipeline.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cmath>
#include <iostream>

#include "cli/analysis_options.hpp"
#include "cli/commands.hpp"
#include "cli/record.hpp"
#include "cli/table.hpp"
#include "kolmo/base/philox.hpp"
#include "kolmo/ops/elementwise/vector_add/vector_add.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct Options {
  DeviceOptions device;
  std::int64_t kilobytes = 16384, items = 400, slots = 3, parts = 1;
  double compute = 1, seconds = 2, objective = 10;
  bool graph = false, json = false;
  std::string record;
};

/// An item goes up, is added to itself `kernels` times, and comes down.
struct Item {
  std::size_t bytes = 0;
  int kernels = 1, parts = 1;
  std::size_t index = 0;
  Clock::time_point due{};
};
using Measured = Pipeline<Item, int>;

PipelineStages<Item, int> stages() {
  const auto part_bytes = [](const Item& item) { return item.bytes / std::size_t(item.parts) / 8 * 8; };
  PipelineStages<Item, int> s;
  s.parts = [](const Item& item) { return item.parts; };
  s.bytes = [=](const Item& item, int) { return PipelineBytes{part_bytes(item), part_bytes(item)}; };
  s.fill = [](const Item& item, const PipelineSlot& slot) {
    const int byte =
        int(item.index % 8);  // in the last element alone: a host's memset is slower than the bus
    std::memset(slot.staged_input + slot.bytes.input - sizeof(float), byte, sizeof(float));
  };
  s.compute = [](const Item& item, const PipelineSlot& slot, Stream& stream) {
    const auto at = [&](void* data) {
      return tensor(data, DType::f32, std::array{slot.bytes.input / sizeof(float)}, stream.device());
    };
    for (int i = 0; i < item.kernels; ++i)
      vector_add({.x = at(slot.input), .y = at(slot.input), .z = at(slot.output)}, stream);
  };
  s.read = [](const Item& item, const PipelineSlot& slot, int& wrong) {
    float in = 0, out = 0;
    std::memset(&in, int(item.index % 8), sizeof in);
    std::memcpy(&out, slot.staged_output + slot.bytes.output - sizeof out, sizeof out);
    wrong += out != in + in;
  };
  return s;
}

/// Kernels for which the compute stage takes `ratio` times the upload.
int kernels_for(double ratio, const Item& item, Device device, const PipelineOptions& o) {
  Measured pipeline(
      device, stages(), [](auto&) {}, o);
  pipeline.measure_alone(item);
  const StageSeconds one = pipeline.report().alone;
  const double wanted = ratio * one.upload / std::max(one.compute, 1e-9);
  return int(std::clamp(std::round(wanted), 1., 10000.));
}

struct Run {
  PipelineReport report;
  std::vector<double> latency;  // from when an item was due
  int wrong = 0;

  double quantile(double q) {
    if (latency.empty()) return 0;
    const auto at = latency.begin() + std::ptrdiff_t(q * double(latency.size() - 1));
    std::nth_element(latency.begin(), at, latency.end());
    return *at;
  }
};

/// Submits items when they are due, however far behind the device is; without arrivals as fast as it can.
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

std::vector<double> arrivals_at(double interval, bool poisson, std::size_t count) {
  std::vector<double> t(count);
  double now = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto r = Philox(1)(i, 0);
    now += poisson ? -interval * std::log1p(-uniform53(r.w[0], r.w[1])) : interval;
    t[i] = now;
  }
  return t;
}

Json saturation_json(const PipelineReport& r, const Item& item) {
  const double per_item = r.wall / double(r.done);
  return {{"bytes", item.bytes},
          {"kernels", item.kernels},
          {"items", r.done},
          {"parts", r.parts},
          {"alone_seconds",
           {{"upload", r.alone.upload}, {"compute", r.alone.compute}, {"download", r.alone.download}}},
          {"mean_seconds",
           {{"fill", r.mean.fill},
            {"upload", r.mean.upload},
            {"compute", r.mean.compute},
            {"download", r.mean.download},
            {"read", r.mean.read}}},
          {"seconds_per_item", per_item},
          {"efficiency", r.efficiency},
          {"speedup_over_serial",
           (r.alone.upload + r.alone.compute + r.alone.download) * double(r.parts) / r.wall},
          {"overlap", r.overlap},
          {"bound", r.bound}};
}

void measure(const Options& o, Context& context) {
  const Stream stream = o.device.open();
  const Device device = stream.device();
  const PipelineOptions options{.name = "measured",
                                .slots = int(o.slots),
                                .objective = o.objective * 1e-3,
                                .graph = o.graph,
                                .cpu_threads = o.device.threads};
  Item item{std::size_t(o.kilobytes) << 10, 1, int(o.parts)};
  if (!in_host_memory(device)) item.kernels = kernels_for(o.compute, item, device, options);
  Run full = run_items(item, std::size_t(o.items), {}, device, options);
  const double per_item = full.report.wall / double(full.report.done);
  Json results = saturation_json(full.report, item), loads = Json::array();
  int wrong = full.wrong;

  TextTable table({"arrivals", ">load", ">items", ">p50", ">p99", ">p99.9", ">within objective"});
  for (const bool poisson : {false, true})
    for (const double load : {.5, .7, .8, .9}) {
      const auto count = std::size_t(std::clamp(o.seconds * load / per_item, 20., 1e6));
      Run run = run_items(item, count, arrivals_at(per_item / load, poisson, count), device, options);
      const auto within = double(std::count_if(run.latency.begin(), run.latency.end(),
                                               [&](double l) { return l <= options.objective; }));
      const double share = within / double(run.latency.size());
      wrong += run.wrong;
      const double p50 = run.quantile(.5), p99 = run.quantile(.99), p999 = run.quantile(.999);
      const char* name = poisson ? "Poisson" : "paced";
      loads.push_back({{"arrivals", name},
                       {"load", load},
                       {"items", count},
                       {"p50", p50},
                       {"p99", p99},
                       {"p99_9", p999},
                       {"within_objective", share}});
      table.add({name, significant(100 * load, 2) + " %", std::to_string(count), duration(p50), duration(p99),
                 duration(p999), significant(100 * share, 3) + " %"});
    }
  if (wrong) fail<DeviceError>("pipeline: " + std::to_string(wrong) + " results are wrong");
  results["objective_seconds"] = options.objective;
  results["loads"] = std::move(loads);
  Record record("pipeline", device, context.command_line);
  record.add(find_op("vector_add"), std::move(results));
  if (!o.record.empty()) record.write(o.record);
  if (o.json) {
    std::cout << record.json().dump(2) << '\n';
    return;
  }
  const PipelineReport& r = full.report;
  std::cout << "device: " << describe(stream) << "\n"
            << o.kilobytes << " KiB up and down, " << item.kernels << " kernels each; alone: upload "
            << duration(r.alone.upload) << ", compute " << duration(r.alone.compute) << ", download "
            << duration(r.alone.download) << "\nsaturated: " << duration(per_item) << " an item, efficiency "
            << significant(100 * r.efficiency, 3) << " %, overlap " << significant(r.overlap, 3)
            << ", bound by " << r.bound << "\n";
  table.print(std::cout);
}

}  // namespace

void add_pipeline(CLI::App& app, Context& context) {
  static Options o;
  CLI::App* c = app.add_subcommand("pipeline", "Measure how well uploads, computing and downloads overlap");
  o.device.add(*c);
  add_count(*c, "--kilobytes", o.kilobytes, 1, 1 << 20, "KiB of an item, each way");
  c->add_option("--compute", o.compute,
                "time of the compute stage over that of the upload, roughly; not on the CPU")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 100.))
      ->type_name("RATIO");
  add_count(*c, "--items", o.items, 10, 1000000, "items of the run as fast as possible");
  add_count(*c, "--slots", o.slots, 2, 8, "items between upload and download");
  add_count(*c, "--parts", o.parts, 1, 64, "parts an item is split into");
  c->add_flag("--graph", o.graph, "replay a graph of the kernels");
  c->add_option("--seconds", o.seconds, "length of the run at each load")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 1000.))
      ->type_name("S");
  c->add_option("--objective", o.objective, "latency to count against")
      ->capture_default_str()
      ->check(CLI::Range(1e-3, 1e9))
      ->type_name("MS");
  c->add_option("--record", o.record, "write the results here")->type_name("FILE.json");
  c->add_flag("--json", o.json, "print one JSON object");
  c->footer(
      "Items go through as fast as possible, which gives the efficiency: the slowest stage by itself over "
      "the\n"
      "time per item. Then they arrive at 50 to 90 % of that rate, evenly or at random; latency runs from "
      "when\n"
      "an item is due.\n"
      "Example:\n  kolmo pipeline --device cuda --record pipeline.json");
  c->callback([&context] { measure(o, context); });
}

}  // namespace kolmo::cli
