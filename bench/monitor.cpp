// Measures the overhead of the monitor's recorder: throughput of vector_add with it off and on, in alternating pairs
// of runs, for calls of about 5, 10, 50 and 500 us; on a GPU also for graphs of such calls.
//   bench_monitor --device cuda --record results.json
#include "kolmo/runtime/monitor.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/record.hpp"
#include "kolmo/ops/elementwise/binary/binary.hpp"
#include "kolmo/tune/statistics.hpp"

namespace kolmo::bench {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
constexpr double run_seconds = 0.05;
constexpr int in_graph = 16;

class Load {
 public:
  Load(std::int64_t n, Stream& stream)
      : stream_(stream), memory_(std::size_t(3 * n) * sizeof(float), stream) {
    auto* at = static_cast<float*>(memory_.data());
    const auto part = [&](int i) { return tensor(at + i * n, DType::f32, std::array{n}, stream.device()); };
    args_ = {.x = part(0), .y = part(1), .z = part(2)};
    stream.fill(memory_.as(DType::u8, std::array{memory_.bytes()}), 0);
  }
  void call() { vector_add(args_, stream_); }
  double seconds(const std::function<void()>& work, std::int64_t times) {
    stream_.synchronize();
    const auto begin = Clock::now();
    for (std::int64_t i = 0; i < times; ++i) work();
    stream_.synchronize();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

 private:
  Stream& stream_;
  Buffer memory_;
  BinaryArgs args_;
};

/// The number of elements for which a call takes about `wanted` seconds.
std::int64_t elements_for(double wanted, Stream& stream) {
  std::int64_t n = 256;
  for (; n < std::int64_t(1) << 30; n = std::int64_t(std::ceil(double(n) * 1.25))) {
    Load load(n, stream);
    load.seconds([&] { load.call(); }, 20);
    if (load.seconds([&] { load.call(); }, 50) / 50 >= wanted) break;
  }
  return n;
}

Json compare(const char* mode, double wanted, std::int64_t n, Load& load, const std::function<void()>& work,
             int pairs) {
  monitor::set(monitor::recording, true);
  load.seconds(work, 50);
  const double once = load.seconds(work, 50) / 50;
  const auto times = std::max<std::int64_t>(1, std::int64_t(run_seconds / once));
  std::vector<double> off, on;
  for (int i = 0; i < pairs; ++i)
    for (const bool watched : {i % 2 == 0, i % 2 != 0}) {
      monitor::set(monitor::recording, watched);
      (watched ? on : off).push_back(load.seconds(work, times) / double(times));
    }
  monitor::set(monitor::recording, true);
  const tune::Ratio cost = tune::paired_ratio(on, off);
  std::cout << mode << ", " << wanted * 1e6 << " us wanted, " << tune::median(off) * 1e6
            << " us: " << 100 * (cost.median - 1) << " % (95 %: " << 100 * (cost.lower - 1) << " to "
            << 100 * (cost.upper - 1) << ")" << std::endl;
  return {{"mode", mode},
          {"wanted_seconds", wanted},
          {"elements", n},
          {"seconds_off", off},
          {"seconds_on", on},
          {"overhead", {{"median", cost.median - 1}, {"lower", cost.lower - 1}, {"upper", cost.upper - 1}}}};
}

int run(int argc, char** argv) {
  CLI::App app("What the monitor's recorder costs");
  std::string device = "auto", record;
  int pairs = 40;
  app.add_option("--device", device, "cpu, cuda or cuda:N")->capture_default_str();
  app.add_option("--pairs", pairs, "runs with and without")
      ->capture_default_str()
      ->check(CLI::Range(20, 10000));
  app.add_option("--record", record, "write every sample to this JSON file");
  CLI11_PARSE(app, argc, argv);

  Stream stream(parse_device(device), 1);
  const DeviceInfo info = device_info(stream.device());
  std::cout << "device: " << to_string(stream.device()) << " (" << info.name << ")" << std::endl;
  Json results = Json::array();
  for (const double wanted : {5e-6, 10e-6, 50e-6, 500e-6}) {
    const std::int64_t n = elements_for(wanted, stream);
    Load load(n, stream);
    results.push_back(compare(
        "call", wanted, n, load, [&] { load.call(); }, pairs));
    if (stream.device().kind != DeviceKind::cuda) continue;
    Graph graph = capture(stream, [&] {
      for (int i = 0; i < in_graph; ++i) load.call();
    });
    results.push_back(compare(
        "graph of 16 calls", wanted, n, load, [&] { graph.launch(stream); }, pairs));
  }
  if (!record.empty()) write_record(record, "monitor", info, {{"results", results}});
  return 0;
}

}  // namespace
}  // namespace kolmo::bench

int main(int argc, char** argv) { return kolmo::bench::status_of("monitor", kolmo::bench::run, argc, argv); }
