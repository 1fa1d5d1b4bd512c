#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "cli/commands.hpp"
#include "cli/describe.hpp"
#include "cli/files.hpp"
#include "cli/record.hpp"
#include "cli/selection.hpp"
#include "cli/table.hpp"
#include "cli/vendor.hpp"
#include "kolmo/check/benchmark.hpp"
#include "kolmo/check/problem.hpp"
#include "kolmo/runtime/monitor.hpp"
#include "kolmo/tune/lookup.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BenchFlags {
  Selection selection;
  DeviceOptions device;
  bool json = false, all_variants = false, by_default = false, no_baseline = false;
  std::string record, filter;
  double budget = 150;
  check::BenchmarkOptions timing;
};

Json to_json(const check::Benchmark& b) {
  return {{"name", b.name},
          {"case", b.case_name},
          {"device", b.device},
          {"variant", b.variant},
          {"seconds", b.median},
          {"lower_quartile", b.lower_quartile},
          {"upper_quartile", b.upper_quartile},
          {"cut_short", b.cut_short},
          {"calls_per_sample", b.calls_per_sample},
          {"samples", b.samples},
          {"flops", b.cost.flops},
          {"bytes", b.cost.bytes_read + b.cost.bytes_written},
          {"tensor_bytes", b.tensor_bytes},
          {"workspace_bytes", b.workspace_bytes},
          {"flops_per_second", b.flops_per_second},
          {"bytes_per_second", b.bytes_per_second},
          {"share_of_roofline", b.share > 0 ? Json(b.share) : Json()}};
}

std::vector<std::string> row(const check::Benchmark& b) {
  const double spread = (b.upper_quartile - b.lower_quartile) / b.median;
  return {b.name,
          b.case_name,
          b.variant,
          duration(b.median) + (b.cut_short ? "*" : ""),
          significant(100 * spread, 2) + " %",
          significant(b.bytes_per_second / 1e9, 3),
          significant(b.flops_per_second / 1e9, 3),
          b.share > 0 ? significant(100 * b.share, 3) + " %" : "-",
          "-"};
}

/// A case of an operator, and its measurements.
struct Job {
  const OpEntry* entry;
  std::size_t index;
  Json results;
  std::vector<std::vector<std::string>> rows;

  CaseInfo info() const { return entry->op->cases()[index]; }
  std::string name() const { return std::string(entry->of(info()).name()) + ", " + std::string(info().name); }
  /// The product of the case's sizes. Small cases run first, so that large ones get the time they leave
  /// unused.
  double size() const {
    double product = 1;
    for (const CaseSize& s : info().sizes) product *= double(s.size);
    return product;
  }
};

class Benchmarks {
 public:
  Benchmarks(const BenchFlags& o, Stream& stream)
      : peaks(check::measured_peaks(stream)), o_(o), stream_(stream) {
    for (const OpEntry* entry : o.selection.entries()) {
      const auto cases = entry->op->cases();
      for (const std::size_t i : chosen_cases(*entry, o.filter)) {
        if (stream.device().kind == DeviceKind::simt && cases[i].benchmark_only)
          ++too_large;
        else
          jobs.push_back({entry, i, Json::array(), {}});
      }
    }
  }

  void run() {
    std::vector<Job*> order;
    for (Job& job : jobs) order.push_back(&job);
    std::stable_sort(order.begin(), order.end(), [](Job* a, Job* b) { return a->size() < b->size(); });
    check::TimeBudget budget(o_.budget > 0 ? o_.budget : 1e9, jobs.size());
    for (Job* job : order) {
      const double seconds = budget.next();
      if (seconds > 0)
        run(*job, seconds, budget);
      else
        leave_out(*job);
    }
  }

  const DeviceInfo peaks;
  std::vector<Job> jobs;
  std::size_t too_large = 0, failed = 0, cut_short = 0;
  std::vector<std::string> left_out;

 private:
  /// The stored configuration, if any, that a call takes when it names none.
  struct Used {
    std::string name;
    bool tuned() const { return !name.empty(); }
  };
  Used used_by(const OpEntry& entry, const check::Problem& problem) const {
    if (o_.all_variants || o_.by_default) return {};
    const DeviceKind kind = stream_.device().kind;
    const tune::Choice c = tune::peek(*entry.op, problem.args(), stream_.device(), stream_.threads());
    if (c.origin == tune::Origin::none || !entry.fits(problem.args(), kind, c.options.variant)) return {};
    const std::string_view row = entry.variants(kind)[std::size_t(c.options.variant)].name;
    std::string name = row.empty() ? "default" : std::string(row);
    if (c.options.threads)
      name += ", " + std::to_string(c.options.threads) + (c.options.threads == 1 ? " thread" : " threads");
    constexpr const char* origins[] = {"tuned", "tuned, other driver", "tuned on a like device",
                                       "tuned for other sizes", ""};
    return {name + " (" + origins[std::size_t(c.origin)] + ")"};
  }

  void leave_out(Job& job) {
    left_out.push_back(job.name());
    job.results.push_back({{"case", job.info().name}, {"left_out", "by the budget of time"}});
  }

  void run(Job& job, double seconds, const check::TimeBudget& budget) {
    const double end = budget.left() - seconds;
    const check::Problem problem(*job.entry->op, job.info(), job.index);
    const double least =
        check::least_seconds(cost(*job.entry->op, problem.args()), job.info().dtype, stream_);
    if (least > budget.left()) return leave_out(job);
    std::vector<int> variants = job.entry->of(job.info()).fitting(problem.args(), stream_.device().kind);
    const Used used = used_by(*job.entry, problem);
    // With -1 run() chooses the variant, and says why if none fits.
    if (!o_.all_variants) variants = {used.tuned() ? -1 : variants.empty() ? -1 : variants[0]};
    for (std::size_t v = 0; v < variants.size(); ++v) {
      check::BenchmarkOptions timing = o_.timing;
      const double share = std::max(0.0, budget.left() - end) / double(variants.size() - v);
      timing.seconds_per_case = std::min(timing.seconds_per_case, share);
      try {
        auto b = check::benchmark_problem(*job.entry, problem, stream_, variants[v], timing);
        if (used.tuned()) b.variant = used.name;
        cut_short += b.cut_short;
        job.results.push_back(to_json(b));
        job.rows.push_back(row(b));
        if (!o_.all_variants && !o_.no_baseline) add_baseline(job, problem, b, variants[v], share);
      } catch (const Error& e) {
        ++failed;
        job.results.push_back({{"case", job.info().name}, {"error", e.what()}});
        std::cerr << "kolmo: " << job.name() << ": " << e.what() << '\n';
      }
    }
  }

  /// Times a baseline with three samples, to set beside what is in use. It is the operator's naive variant;
  /// for an operator that fuses an activation, the operator without it followed by the activation; otherwise,
  /// on the CPU, what is in use on one thread. A baseline can be a hundred times slower; where it would not
  /// fit into the case's time, it is left out.
  void add_baseline(Job& job, const check::Problem& problem, const check::Benchmark& used, int variant,
                    double seconds) {
    const auto rows = job.entry->variants(stream_.device().kind);
    Stream on = stream_;
    double slower = 400;
    std::string name;
    for (const int v : job.entry->of(job.info()).fitting(problem.args(), stream_.device().kind))
      if (rows[std::size_t(v)].naive && name.empty()) variant = v, name = rows[std::size_t(v)].name;
    check::BenchmarkOptions timing = o_.timing;
    if (name != "unfused" && check::fused_activation(*job.entry->op, problem.args()))
      variant = -1, name = "unfused", timing.unfused = true;
    if (name == "unfused") slower = 20;
    if (name.empty() && stream_.device().kind == DeviceKind::cpu && stream_.threads() > 1)
      slower = 4 * stream_.threads(), name = "one thread", on = stream_.with_threads(1);
    if (name.empty() || name == used.variant || slower * used.median > seconds) return;
    timing.samples = 3, timing.seconds_per_case = seconds / 2;
    const auto b = check::benchmark_problem(*job.entry, problem, on, variant, timing);
    job.results.back()["baseline"] = {{"variant", name}, {"seconds", b.median}, {"samples", b.samples}};
    job.rows.back().back() = duration(b.median) + (name == "one thread" ? " (1 thread)"
                                                   : name == "unfused"  ? " (unfused)"
                                                                        : "");
  }

  const BenchFlags& o_;
  Stream& stream_;
};

void print(const BenchFlags& o, const Benchmarks& all) {
  TextTable table(
      {"operator", "case", "variant", ">time", ">spread", ">GB/s", ">GFLOP/s", ">of roofline", ">baseline"});
  for (const Job& job : all.jobs)
    for (const auto& cells : job.rows) table.add(cells);
  table.print(std::cout);
  const DeviceInfo& peaks = all.peaks;
  if (peaks.bytes_per_second > 0)
    std::cout
        << "roofline: " << significant(peaks.bytes_per_second / 1e9, 3) << " GB/s, "
        << significant(peaks.flops_f64 / 1e9, 3) << " GFLOP/s in f64, "
        << significant(peaks.flops_f32 / 1e9, 3) << " in f32, " << significant(peaks.matrix_flops_16 / 1e9, 3)
        << " in products of 16-bit matrices (0: not known); -: the data fit in a cache\n"
        << "baseline: the operator's naive variant; unfused: without its activation, which another operator "
           "then computes; or on the CPU the same on one thread; -: none, too slow to be timed, or not "
           "wanted\n";
  if (all.cut_short)
    std::cout << "*: " << all.cut_short << " measured less often, to end in " << significant(o.budget)
              << " s (--budget)\n";
  for (const std::string& name : all.left_out)
    std::cout << "not measured, to end in " << significant(o.budget) << " s (--budget): " << name << '\n';
  if (all.too_large) std::cout << all.too_large << " cases are too large for the emulated GPU\n";
}

/// Runs the benchmarks. Cases for which the emulated GPU is too slow are left out, and their number is
/// printed.
void bench(const BenchFlags& o, Context& context) {
  const auto entries = o.selection.entries();
  require_case(entries, o.filter);
  Stream stream = o.device.open();
  const bool emulated = stream.device().kind == DeviceKind::simt;
  const auto calls_vendor = [](const OpEntry* e) { return calls_vendor_library(*e); };
  if (!o.json) std::cout << "device: " << describe(stream) << (emulated ? ", emulated" : "") << std::endl;
  if (const std::string vendor = vendor_library_text();
      !o.json && !vendor.empty() && stream.device().kind == DeviceKind::cuda &&
      std::any_of(entries.begin(), entries.end(), calls_vendor))
    std::cout << vendor << std::endl;
  Record record("bench", stream.device(), context.command_line);
  Benchmarks all(o, stream);
  record.set_peaks(all.peaks);
  monitor::set_peaks(all.peaks);
  all.run();
  for (const OpEntry* entry : entries) {
    Json results = Json::array();
    for (Job& job : all.jobs)
      if (job.entry == entry)
        for (Json& r : job.results) results.push_back(std::move(r));
    record.add(*entry, std::move(results));
  }
  if (!o.record.empty()) record.write(o.record);
  context.status = all.failed ? 1 : 0;
  if (o.json)
    std::cout << record.json().dump(2) << '\n';
  else
    print(o, all);
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  static BenchFlags o;
  auto* command =
      app.add_subcommand("bench", "Time operators: median, quartiles, share of what the device allows");
  o.selection.add(*command);
  o.device.add(*command);
  command->add_option("--case", o.filter, "only the case of this name, or cases with this text in their name")
      ->type_name("TEXT");
  auto* variants =
      command->add_flag("--variants", o.all_variants, "every variant that fits, not only the one in use");
  command->add_flag("--default", o.by_default, "the default variant, whatever was tuned")->excludes(variants);
  command->add_flag("--no-baseline", o.no_baseline, "leave out the baseline, e.g. under a profiler");
  command
      ->add_option("--budget", o.budget,
                   "time for everything, shared out among the cases; what is cut short is said; 0: no limit")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e6))
      ->type_name("SECONDS");
  command->add_option("--samples", o.timing.samples, "samples per case, fewer where they agree")
      ->capture_default_str()
      ->check(CLI::Range(3, 10000))
      ->type_name("N");
  command->add_flag("--json", o.json, "print JSON with every sample");
  add_output(*command, "--record", o.record, "also write the results to this JSON file")
      ->type_name("FILE.json");
  command->footer("Example:\n  kolmo bench vector_add --device cpu --threads 1");
  command->callback([&context] { bench(o, context); });
}

}  // namespace kolmo::cli
