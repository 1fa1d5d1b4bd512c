// How busy a load keeps a device, second by second: a pipeline that is always full, and matrix products. On a
// GPU this reports NVML's values and, on Hopper and later, its activity counters. Beside them stands the
// library's own device time over wall time. Device time is launches times the mean of the sampled launches;
// it is too large for short kernels, because events also time the gap before a kernel. On a CPU this reports
// the operating system's values.
//   bench_busy --device cuda --record results.json
#include <CLI/CLI.hpp>
#include <future>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "bench/record.hpp"
#include "cli/pipeline_load.hpp"
#include "kolmo/monitor/devices.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"
#include "kolmo/runtime/monitor.hpp"
#include "kolmo/tune/statistics.hpp"

namespace kolmo::bench {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using Stop = std::atomic<bool>;

double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

struct Load {
  std::string name;
  std::function<void(const Stop&)> run;
};

Load full_pipeline(Device device, double ratio) {
  using namespace pipeline_load;
  const PipelineOptions options{.name = "busy"};
  Item item{std::size_t(16) << 20};
  item.kernels = kernels_for(ratio, item, device, options);
  const auto run = [=](const Stop& stop) {
    Measured pipeline(
        device, stages(),
        [](auto& r) {
          if (r.error) std::rethrow_exception(r.error);
        },
        options);
    for (Item next = item; !stop; ++next.index) pipeline.submit(next);
    pipeline.drain();
  };
  return {"pipeline of 16 MiB items, " + std::to_string(item.kernels) + " vector_add each", run};
}

/// Makes a load of matrix products, of which at most two batches are queued on the device.
Load products(Device device, std::int64_t n) {
  const auto run = [=](const Stop& stop) {
    Stream stream(device);
    const std::size_t one = std::size_t(n * n) * sizeof(float);
    Buffer memory(3 * one, stream);
    stream.fill(memory.as(DType::u8, std::array{memory.bytes()}), 0);
    const auto part = [&](std::size_t i) {
      return tensor(static_cast<std::byte*>(memory.data()) + i * one, DType::f32, std::array{n, n}, device);
    };
    const MatmulArgs args{.a = part(0), .b = part(1), .y = part(2)};
    std::array ends{Event(device, false), Event(device, false)};
    for (Event& e : ends) e.record(stream);
    for (std::size_t turn = 0; !stop; ++turn) {
      Event& end = ends[turn % 2];
      end.synchronize();
      for (int i = 0; i < 4; ++i) matmul(args, stream);
      end.record(stream);
    }
    stream.synchronize();
  };
  return {"matmul of f32, " + std::to_string(n) + " by " + std::to_string(n), run};
}

/// The gauges of the device since the last call, by their names without "kolmo_".
Json counters(monitor::DeviceMeter& meter, Device device) {
  meter.read(now());
  Json found = Json::object();
  for (const metrics::Family& f : metrics::collect()) {
    if (!f.name.starts_with(device.kind == DeviceKind::cuda ? "kolmo_gpu_" : "kolmo_cpu_busy")) continue;
    for (const metrics::Reading& s : f.readings)
      for (const auto& [label, value] : s.labels) {
        if (label == "gpu" && value == std::to_string(device.index) && f.name.ends_with("_ratio"))
          found[f.name.substr(6)] = s.value;
        if (label == "scope") found[f.name.substr(6) + "_of_" + value] = s.value;
      }
  }
  return found;
}

/// Device seconds of every operator so far; as of the last metrics::collect().
double device_seconds(Device device) {
  double all = 0;
  for (const monitor::LaunchMetrics* k : monitor::kernels())
    if (k->device == device) all += k->busy.value();
  return all;
}

Json watch(const Load& load, Device device, int seconds) {
  constexpr double mean_wanted = .8, lowest_wanted = .7;
  constexpr auto warm_up = std::chrono::seconds(2);
  const bool gpu = device.kind == DeviceKind::cuda;
  monitor::DeviceMeter meter;
  Stop stop = false;
  std::future<void> running = std::async(std::launch::async, [&] { load.run(stop); });
  // Runs after an exception too.
  const std::shared_ptr<void> at_the_end(nullptr, [&](void*) { stop = true; });
  running.wait_for(warm_up);
  counters(meter, device);
  double last = now(), last_busy = device_seconds(device);
  Json samples = Json::array();
  std::vector<double> ratios;
  while (int(samples.size()) < seconds &&
         running.wait_for(std::chrono::seconds(1)) == std::future_status::timeout) {
    Json all = counters(meter, device);
    const double at = now(), busy = device_seconds(device);
    const double own = (busy - last_busy) / (at - last);
    ratios.push_back(all.value(gpu ? "gpu_busy_ratio" : "cpu_busy_ratio_of_process", 0.));
    samples.push_back({{"seconds", at - last}, {"own_busy_ratio", own}});
    samples.back().update(all);
    last = at, last_busy = busy;
  }
  stop = true;
  running.get();
  const double mean = std::accumulate(ratios.begin(), ratios.end(), 0.) / double(ratios.size());
  const double p5 = tune::quantile(ratios, .05);
  const bool met = mean >= mean_wanted && p5 >= lowest_wanted;
  std::cout << load.name << ": busy " << 100 * mean << " % in the mean of " << ratios.size()
            << " seconds, 5 % quantile " << 100 * p5
            << " %; 80 % and 70 % asked: " << (met ? "met" : "NOT met") << "\n  in the last second "
            << samples.back().dump() << std::endl;
  return {{"load", load.name}, {"ratio_of", gpu ? "gpu_busy_ratio" : "cpu_busy_ratio_of_process"},
          {"mean", mean},      {"p5", p5},
          {"met", met},        {"samples", samples}};
}

int run(int argc, char** argv) {
  CLI::App app("How busy a load keeps a device");
  std::string name = "auto", record;
  int seconds = 15;
  double ratio = 1;
  app.add_option("--device", name, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--seconds", seconds, "length of each load, after two seconds of warm-up")
      ->capture_default_str()
      ->check(CLI::Range(1, 3600));
  app.add_option("--compute", ratio, "time of the pipeline's compute stage over that of its upload")
      ->capture_default_str()
      ->check(CLI::Range(.01, 100.));
  app.add_option("--record", record, "write every sample to this JSON file");
  CLI11_PARSE(app, argc, argv);

  const Device device = parse_device(name);
  const DeviceInfo info = device_info(device);
  std::cout << "device: " << to_string(device) << " (" << info.name << ")" << std::endl;
  Json results = Json::array();
  for (const Load& load :
       {full_pipeline(device, ratio), products(device, in_host_memory(device) ? 1024 : 4096)})
    results.push_back(watch(load, device, seconds));
  if (!record.empty()) write_record(record, "busy", info, {{"results", results}});
  return 0;
}

}  // namespace
}  // namespace kolmo::bench

int main(int argc, char** argv) { return kolmo::bench::status_of("busy", kolmo::bench::run, argc, argv); }
