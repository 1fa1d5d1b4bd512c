// The cost of the tuner and the quality of its choices.
//   bench_tuner [--record FILE.json]
// Look-up: nanoseconds of tune::look_up() in a loop, for a known and for an unknown call; median and
// quartiles of 200 batches. Search: every strategy on bench/modelled_kernels.hpp and the recorded spaces, on
// a virtual clock, so these numbers are the same on every machine.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench/modelled_kernels.hpp"
#include "bench/record.hpp"
#include "kolmo/op/source_hash.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"
#include "kolmo/ops/elementwise/binary/binary.hpp"
#include "kolmo/tune/call.hpp"
#include "kolmo/tune/lookup.hpp"
#include "kolmo/tune/strategy.hpp"
#include "tests/sim/simulated_measurer.hpp"

namespace kolmo::bench {
namespace {

using Json = nlohmann::ordered_json;

Json time_look_up(const OpBase& op, const void* args) {
  using Clock = std::chrono::steady_clock;
  constexpr int batch = 2000;
  std::vector<double> nanoseconds;
  for (int i = 0; i < 200; ++i) {
    const auto begin = Clock::now();
    for (int k = 0; k < batch; ++k) tune::look_up(op, args, Device{}, 2);
    nanoseconds.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / batch);
  }
  return {{"median_ns", tune::median(nanoseconds)},
          {"lower_quartile_ns", tune::quantile(nanoseconds, 0.25)},
          {"upper_quartile_ns", tune::quantile(nanoseconds, 0.75)}};
}

Json look_ups() {
  const auto folder =
      std::filesystem::temp_directory_path() / ("kolmo-bench-tuner-" + std::to_string(::getpid()));
  tune::Store store(folder.string());
  std::vector<double> memory(64 * 64);
  const Tensor square = tensor(memory.data(), {64, 64});
  const MatmulArgs product{.a = square, .b = square, .y = square};
  const BinaryArgs sum{.x = square, .y = square, .z = square};
  for (const OpBase* op : {matmul.operator->(), vector_add.operator->()}) {
    const tune::CallReader reader(*op);
    const void* args = op == matmul.operator->() ? static_cast<const void*>(&product) : &sum;
    const tune::Space space({{"variant", {0}}, {"threads", {1, 0}}});
    tune::SimulatedMeasurer m({1e-6, 2e-6}, {}, 1);
    tune::Profile profile =
        tune::make_profile(reader.key(reader.read(args, 2), source_hash(op->name, DeviceKind::cpu)), space,
                           tune::tune(op->name, space, m, {.standard = 1}));
    tune::name_variants(profile, entry_of(*op), DeviceKind::cpu);
    store.put(tune::environment_of(Device{}, "stream_hot"), profile);
  }
  const Device devices[] = {Device{}};
  Json j;
  j["configurations"] = tune::use(store, devices, "stream_hot");
  j["vector_add, known"] = time_look_up(vector_add, &sum);
  j["matmul, known"] = time_look_up(matmul, &product);
  MatmulArgs other = product;
  other.activation = Activation::relu;
  j["matmul, not known"] = time_look_up(matmul, &other);
  tune::stop_using();
  std::filesystem::remove_all(folder);
  return j;
}

Json search(const std::vector<modelled::Kernel>& kernels, const std::string& strategy) {
  constexpr int repeats = 10;
  std::vector<double> regrets, samples;
  double seconds = 0, flips = 0, pairs = 0;
  for (const auto& k : kernels) {
    std::vector<double> chosen;
    for (int r = 0; r < repeats; ++r) {
      tune::SimulatedMeasurer m(k.seconds, {}, std::uint64_t(r + 1));
      const tune::Tuning t =
          tune::tune(k.name, k.space, m, {.strategy = strategy, .budget = 30, .seed = std::uint64_t(r + 1)});
      regrets.push_back(m.regret(t.winner)), samples.push_back(double(t.samples));
      seconds += t.seconds;
      for (const double earlier : chosen) {
        ++pairs;
        flips += std::abs(std::log(earlier / k.seconds[t.winner])) > 0.02;
      }
      chosen.push_back(k.seconds[t.winner]);
    }
  }
  return {{"kernels", kernels.size()},
          {"tunings", regrets.size()},
          {"regret_median", tune::median(regrets)},
          {"regret_p95", tune::quantile(regrets, 0.95)},
          {"regret_worst", tune::quantile(regrets, 1)},
          {"flip_rate", flips / pairs},
          {"device_seconds", seconds},
          {"samples_median", tune::median(samples)}};
}

int run(int argc, char** argv) {
  CLI::App app{"What the tuner costs and how well it chooses"};
  std::string record, recorded = "bench/recorded_spaces.json";
  app.add_option("--record", record, "write the results to this JSON file");
  app.add_option("--recorded", recorded, "recorded spaces")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  Json results{{"look_up", look_ups()}};
  const auto modelled = modelled::all(), from_file = modelled::recorded(recorded);
  for (const std::string_view strategy : tune::strategy_names) {
    results["modelled"][std::string(strategy)] = search(modelled, std::string(strategy));
    results["recorded"][std::string(strategy)] = search(from_file, std::string(strategy));
  }
  std::cout << results.dump(2) << '\n';
  if (!record.empty()) write_record(record, "tuner_search", device_info({}), results);
  return 0;
}

}  // namespace
}  // namespace kolmo::bench

int main(int argc, char** argv) { return kolmo::bench::status_of("tuner", kolmo::bench::run, argc, argv); }
