// Measures the pipeline beside the same work written by hand, in rounds that each begin with a different one.
//   bench_pipeline --device cuda --record results.json
#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/pipeline_by_hand.hpp"
#include "bench/record.hpp"
#include "cli/pipeline_load.hpp"
#include "kolmo/tune/statistics.hpp"

namespace kolmo::bench {
namespace {

using namespace pipeline_load;
using Json = nlohmann::ordered_json;

double with_kolmo(Device device, Item item, const PipelineOptions& options, int items) {
  int wrong = 0;
  Measured pipeline(
      device, stages(), [&](auto& r) { wrong += r.error ? 1 : r.value; }, options);
  pipeline.measure_alone(item, 1);  // before timing starts: allocates memory and loads kernels, as by hand
  for (int i = 0; i < items; ++i) item.index = std::size_t(i), pipeline.submit(item);
  pipeline.drain();
  if (wrong) fail<DeviceError>("bench: " + std::to_string(wrong) + " results are wrong");
  return pipeline.report().wall / items;
}

struct Arm {
  std::string name;
  std::function<double()> seconds_per_item;
  std::vector<double> samples = {};
};

int run(int argc, char** argv) {
  CLI::App app("The pipeline beside the same work written by hand");
  std::string name = "auto", record;
  int rounds = 20, items = 200, kilobytes = 16384;
  app.add_option("--device", name, "cuda or cuda:N")->capture_default_str();
  app.add_option("--kilobytes", kilobytes, "of an item, each way")->check(CLI::Range(1, 1 << 20));
  app.add_option("--items", items, "of a run")->capture_default_str()->check(CLI::Range(10, 1000000));
  app.add_option("--rounds", rounds, "runs of each")->capture_default_str()->check(CLI::Range(1, 10000));
  app.add_option("--record", record, "write every sample to this JSON file");
  CLI11_PARSE(app, argc, argv);

  const Device device = parse_device(name);
  const DeviceInfo info = device_info(device);
  std::cout << "device: " << to_string(device) << " (" << info.name << ")" << std::endl;
  if (device.kind != DeviceKind::cuda) {
    std::cout << "works in host memory: there is nothing to overlap\n";
    return 0;
  }
  Item item{std::size_t(kilobytes) << 10};
  item.kernels = kernels_for(1, item, device, {});
  std::vector<Arm> arms;
  for (const int slots : {3, 4}) {
    const std::string with = ", " + std::to_string(slots) + " slots";
    for (const bool graph : {false, true})
      arms.push_back({"Kolmo" + with + (graph ? ", graph" : ""),
                      [=] { return with_kolmo(device, item, {.slots = slots, .graph = graph}, items); }});
    arms.push_back({"by hand" + with,
                    [=] { return pipeline_by_hand(device.index, item.bytes, item.kernels, slots, items); }});
  }
  arms.push_back({"by hand, one item after the other",
                  [=] { return pipeline_by_hand(device.index, item.bytes, item.kernels, 1, items); }});
  for (std::size_t round = 0; round < std::size_t(rounds); ++round)
    for (std::size_t i = 0; i < arms.size(); ++i) {
      Arm& arm = arms[(round + i) % arms.size()];
      arm.samples.push_back(arm.seconds_per_item());
    }

  Json results = Json::array();
  for (const Arm& arm : arms) {
    const tune::Ratio r = tune::paired_ratio(arm.samples, arms.front().samples);
    std::cout << arm.name << ": " << 1e6 * tune::median(arm.samples) << " us an item, " << r.median << " ("
              << r.lower << " to " << r.upper << ") times " << arms.front().name << '\n';
    results.push_back({{"arm", arm.name},
                       {"seconds_per_item", arm.samples},
                       {"over_first", {{"median", r.median}, {"lower", r.lower}, {"upper", r.upper}}}});
  }
  if (!record.empty())
    write_record(record, "pipeline_peers", info,
                 {{"bytes", item.bytes}, {"kernels", item.kernels}, {"items", items}, {"results", results}});
  return 0;
}

}  // namespace
}  // namespace kolmo::bench

int main(int argc, char** argv) { return kolmo::bench::status_of("pipeline", kolmo::bench::run, argc, argv); }
