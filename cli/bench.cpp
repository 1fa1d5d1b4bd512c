#include <CLI/CLI.hpp>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/describe.hpp"
#include "cli/record.hpp"
#include "cli/selection.hpp"
#include "cli/table.hpp"
#include "kolmo/check/benchmark.hpp"
#include "kolmo/check/problem.hpp"
#include "kolmo/runtime/monitor.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  Selection selection;
  DeviceOptions device;
  bool json = false, all_variants = false;
  std::string record, filter;
  check::BenchmarkOptions timing;
};

Json to_json(const check::Benchmark& b) {
  return {{"case", b.case_name},
          {"device", b.device},
          {"variant", b.variant},
          {"seconds", b.median},
          {"lower_quartile", b.lower_quartile},
          {"upper_quartile", b.upper_quartile},
          {"calls_per_sample", b.calls_per_sample},
          {"samples", b.samples},
          {"flops", b.cost.flops},
          {"bytes", b.cost.bytes_read + b.cost.bytes_written},
          {"flops_per_second", b.flops_per_second},
          {"bytes_per_second", b.bytes_per_second},
          {"share_of_roofline", b.share > 0 ? Json(b.share) : Json()}};
}

std::vector<std::string> row(const check::Benchmark& b) {
  const double spread = (b.upper_quartile - b.lower_quartile) / b.median;
  return {b.op,
          b.case_name,
          b.variant,
          duration(b.median),
          significant(100 * spread, 2) + " %",
          significant(b.bytes_per_second / 1e9, 3),
          significant(b.flops_per_second / 1e9, 3),
          b.share > 0 ? significant(100 * b.share, 3) + " %" : "-"};
}

/// Cases the emulated GPU is too slow for are left out, and that is said.
void bench(const Options& o, Context& context) {
  const auto entries = o.selection.entries();
  Stream stream = o.device.open();
  const bool emulated = stream.device().kind == DeviceKind::simt;
  if (!o.json) std::cout << "device: " << describe(stream) << (emulated ? ", emulated" : "") << std::endl;
  Record record("bench", stream.device(), context.command_line);
  const DeviceInfo peaks = check::measured_peaks(stream);
  record.set_peaks(peaks);
  monitor::set_peaks(peaks);
  TextTable table({"operator", "case", "variant", ">time", ">spread", ">GB/s", ">GFLOP/s", ">of roofline"});
  std::size_t left_out = 0, failed = 0;
  for (const OpEntry* entry : entries) {
    Json results = Json::array();
    const auto cases = entry->op->cases();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (!entry->has(cases[i]) || cases[i].name.find(o.filter) == std::string_view::npos) continue;
      if (emulated && cases[i].benchmark_only) {
        ++left_out;
        continue;
      }
      const check::Problem problem(*entry->op, cases[i], i);
      std::vector<int> variants = entry->of(cases[i]).fitting(problem.args(), stream.device().kind);
      if (!o.all_variants && variants.size() > 1) variants.resize(1);
      if (variants.empty()) variants = {-1};  // run() says why
      for (const int variant : variants) {
        try {
          const auto b = check::benchmark_case(*entry, i, stream, variant, o.timing);
          results.push_back(to_json(b));
          table.add(row(b));
        } catch (const Error& e) {
          ++failed;
          results.push_back({{"case", cases[i].name}, {"error", e.what()}});
          std::cerr << "kolmo: " << entry->name() << ", " << cases[i].name << ": " << e.what() << '\n';
        }
      }
    }
    record.add(*entry, std::move(results));
  }
  if (!o.record.empty()) record.write(o.record);
  context.status = failed ? 1 : 0;
  if (o.json) {
    std::cout << record.json().dump(2) << '\n';
    return;
  }
  table.print(std::cout);
  if (peaks.bytes_per_second > 0)
    std::cout << "roofline: " << significant(peaks.bytes_per_second / 1e9, 3) << " GB/s, "
              << significant(peaks.flops_f64 / 1e9, 3) << " GFLOP/s in f64, "
              << significant(peaks.flops_f32 / 1e9, 3) << " in f32, "
              << significant(peaks.matrix_flops_16 / 1e9, 3)
              << " in products of 16-bit matrices (0: not known); -: the data fit in a cache\n";
  if (left_out) std::cout << left_out << " cases are too large for the emulated GPU\n";
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  static Options o;
  auto* command =
      app.add_subcommand("bench", "Time operators: median, quartiles, share of what the device allows");
  o.selection.add(*command);
  o.device.add(*command);
  command->add_option("--case", o.filter, "only cases with this text in their name")->type_name("TEXT");
  command->add_flag("--variants", o.all_variants, "every variant that fits, not only the default");
  command->add_option("--samples", o.timing.samples, "samples per case")
      ->capture_default_str()
      ->check(CLI::Range(3, 10000))
      ->type_name("N");
  command->add_flag("--json", o.json, "print JSON with every sample");
  command->add_option("--record", o.record, "also write the results to this JSON file")
      ->type_name("FILE.json");
  command->footer("Example:\n  kolmo bench vector_add --device cpu --threads 1");
  command->callback([&context] { bench(o, context); });
}

}  // namespace kolmo::cli
