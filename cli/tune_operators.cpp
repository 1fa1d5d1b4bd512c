#include <cmath>
#include <iostream>
#include <set>

#include "cli/record.hpp"
#include "cli/table.hpp"
#include "cli/tune.hpp"
#include "cli/tune_occupancy.hpp"
#include "cli/tune_problem.hpp"
#include "kolmo/check/benchmark.hpp"
#include "kolmo/check/placement.hpp"
#include "kolmo/check/verifier.hpp"
#include "kolmo/op/source_hash.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

/// One case, tuned. Speed-ups are the time of the other over that of the winner; 0 where there is no other.
struct Row {
  std::string name, configuration, note;
  Json json;
  double seconds = 0, vs_default = 0, vs_naive = 0, vs_occupancy = 0, vs_vendor = 0, share = 0;
};

std::string factor(double x) { return x > 0 ? significant(x, 3) + "x" : "-"; }

class Tuner {
 public:
  Tuner(const TuneCommand& o, tune::Store& store, Stream& stream) : o_(o), store_(store), stream_(stream) {
    options_.search = o.search;
    options_.measure.mode = tune::default_mode(stream.device().kind);
    for (std::size_t m = 0; m < std::size(tune::mode_names); ++m)
      if (o.mode == tune::mode_names[m]) options_.measure.mode = tune::Mode(m);
  }

  const std::string mode() const { return std::string(tune::to_string(options_.measure.mode)); }
  double seconds() const { return seconds_; }
  std::size_t tried() const { return tried_; }

  /// Nothing when the store has a fresh result and only others are asked for.
  std::optional<Row> operator()(const OpBase& op, const TuneProblem& tp) {
    const check::Problem& problem = tp.problem();
    check::Placement placed(problem, stream_);
    if (o_.stale && tune::fresh(op, placed.args(), stream_, options_.measure.mode, store_)) return {};
    std::optional<check::Verifier> verifier;
    tune::CallOptions options = options_;
    options.verify = [&](const OpBase&, const void*, const RunOptions& configuration) {
      if (!verifier) verifier.emplace(op, problem, stream_);
      return (*verifier)(configuration);
    };
    const auto occupancies = variant_occupancies(problem, stream_);
    options.feasible = [&](int variant) {
      const auto known = occupancies.find(variant);
      return known == occupancies.end() || known->second.possible;
    };
    Row row{tp.name()};
    const auto tuned = tune::tune_call(op, placed.args(), stream_, options, &store_);
    if (!o_.dry_run) tune::keep(tuned, store_);
    seconds_ += tuned.tuning.seconds, tried_ += tuned.tuning.tried;
    fill(row, op, problem, tuned, tuned.space.find({highest_occupancy(occupancies), 0}));
    return row;
  }

 private:
  void fill(Row& row, const OpBase& op, const check::Problem& problem, const tune::TunedCall& tuned,
            int by_occupancy) {
    const tune::CallSpace& space = tuned.space;
    const tune::Tuning& t = tuned.tuning;
    const tune::Finding& winner = t.finding(t.winner);
    row.seconds = winner.seconds.median, row.configuration = space[t.winner].label;
    row.vs_default = t.speedup();
    const auto against = [&](int other) {
      const tune::Finding* f = other < 0 ? nullptr : t.find(std::size_t(other));
      return f && f->samples ? t.speedup() / f->gain.median : 0.0;
    };
    row.vs_naive = against(t.naive), row.vs_occupancy = against(by_occupancy);
    row.vs_vendor = against(best_vendor(space, t));
    row.share = check::least_seconds(cost(op, problem.args()), problem.info().dtype, stream_) / row.seconds;
    std::size_t wrong = 0;
    for (const tune::Finding& f : t.findings) wrong += !f.error.empty();
    if (wrong) row.note = std::to_string(wrong) + " cannot run or are wrong";
    if (!t.decided)
      row.note += std::string(row.note.empty() ? "" : "; ") + "not decided: the budget is too small";
    const auto ratio = [](double x) { return x > 0 ? Json(x) : Json(); };
    row.json = {{"case", row.name},
                {"sizes", Json::object()},
                {"configuration", row.configuration},
                {"default", space[t.standard].label},
                {"seconds", row.seconds},
                {"speedup",
                 {{"default", row.vs_default},
                  {"naive", ratio(row.vs_naive)},
                  {"occupancy", ratio(row.vs_occupancy)},
                  {"vendor", ratio(row.vs_vendor)}}},
                {"share_of_roofline", ratio(row.share)},
                {"decided", t.decided},
                {"stored", t.decided && !o_.dry_run},
                {"profile", Json::parse(tune::to_json(tuned.profile))}};
    for (const tune::Key::Dim& d : tuned.profile.key.dims) row.json["sizes"][d.name] = d.bucket.high;
  }

  static int best_vendor(const tune::CallSpace& space, const tune::Tuning& t) {
    int best = -1;
    for (const tune::Finding& f : t.findings)
      if (space.vendor(f.config) && f.samples && f.error.empty() &&
          (best < 0 || f.gain.median > t.finding(std::size_t(best)).gain.median))
        best = int(f.config);
    return best;
  }

  const TuneCommand& o_;
  tune::Store& store_;
  Stream& stream_;
  tune::CallOptions options_;
  double seconds_ = 0;
  std::size_t tried_ = 0;
};

/// The cases to tune an operator with: those asked for; by default the benchmark's, or all where there are
/// none.
std::vector<std::size_t> cases_of(const OpEntry& entry, const TuneCommand& o, bool emulated) {
  const auto cases = entry.op->cases();
  std::vector<std::size_t> large, all;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!entry.has(cases[i]) || cases[i].name.find(o.filter) == std::string_view::npos) continue;
    if (emulated && cases[i].benchmark_only) continue;
    all.push_back(i);
    if (cases[i].benchmark_only) large.push_back(i);
  }
  return large.empty() || !o.filter.empty() ? all : large;
}

/// What is printed while it is found, and what it comes to.
class Report {
 public:
  Report(const TuneCommand& o, Stream& stream, Context& context)
      : o_(o), record_("tune", stream.device(), context.command_line) {}

  template <class Make>
  void add(const OpEntry& entry, Tuner& tuner, Json& results, Make make) {
    try {
      const TuneProblem problem = make();
      const auto tuned = tuner(*entry.op, problem);
      if (!tuned) {
        ++fresh_;
        return;
      }
      const Row& row = *tuned;
      results.push_back(row.json);
      table_.add({std::string(entry.name()), row.name, row.configuration, duration(row.seconds),
                  factor(row.vs_default), factor(row.vs_naive), factor(row.vs_occupancy),
                  factor(row.vs_vendor), row.share > 0 ? significant(100 * row.share, 3) + " %" : "-",
                  row.note});
      log_speedup_ += std::log(row.vs_default);
      best_ = std::max(best_, row.vs_default);
      ++tuned_;
    } catch (const DeviceError&) {
      throw;
    } catch (const Error& e) {
      ++failed_;
      results.push_back({{"error", e.what()}});
      std::cerr << "kolmo: " << e.what() << '\n';
    }
  }
  void add(const OpEntry& entry, Json results) { record_.add(entry, std::move(results)); }

  void finish(const Tuner& tuner, Context& context) {
    const double average = tuned_ ? std::exp(log_speedup_ / double(tuned_)) : 1;
    record_.set("summary", {{"cases", tuned_},
                            {"average_speedup", average},
                            {"best_speedup", best_},
                            {"fresh", fresh_},
                            {"configurations_tried", tuner.tried()},
                            {"seconds", tuner.seconds()},
                            {"mode", tuner.mode()},
                            {"failed", failed_}});
    if (!o_.record.empty()) record_.write(o_.record);
    context.status = failed_ ? 1 : 0;
    if (o_.json) {
      std::cout << record_.json().dump(2) << '\n';
      return;
    }
    if (!table_.empty()) table_.print(std::cout);
    if (fresh_) std::cout << fresh_ << " cases have a fresh result\n";
    std::cout << tuned_ << " cases, " << tuner.tried() << " configurations tried in "
              << duration(tuner.seconds()) << " (" << tuner.mode() << "); average speed-up over the defaults "
              << significant(average, 3) << "x (geometric mean)\n";
  }

 private:
  const TuneCommand& o_;
  Record record_;
  TextTable table_{{"operator", "case", "configuration", ">time", ">default", ">naive", ">occupancy",
                    ">vendor", ">of roofline", ""}};
  double log_speedup_ = 0, best_ = 1;
  std::size_t tuned_ = 0, fresh_ = 0, failed_ = 0;
};

}  // namespace

void tune_operators(const TuneCommand& o, tune::Store& store, Context& context) {
  const auto entries = o.selection.entries();
  Stream stream = o.device.open();
  const bool emulated = stream.device().kind == DeviceKind::simt;
  if (!o.json)
    std::cout << "device: " << describe(stream)
              << (emulated ? ", emulated: times are not those of a GPU" : "")
              << (o.dry_run ? "\n" : "\nstore:  " + store.root() + "\n") << std::flush;
  if (!o.dry_run) store.require_writable();
  Tuner tuner(o, store, stream);
  Report report(o, stream, context);
  const auto misses =
      o.misses ? store.misses(tune::environment_of(stream.device(), tuner.mode())) : std::vector<tune::Key>{};
  for (const OpEntry* entry : entries) {
    Json results = Json::array();
    if (o.misses) {
      for (const tune::Key& key : misses)
        if (key.kernel == entry->op->name && key.kernel_hash == source_hash(key.kernel, stream.device().kind))
          report.add(*entry, tuner, results, [&] { return TuneProblem(*entry->op, key); });
    } else {
      for (const std::size_t i : cases_of(*entry, o, emulated))
        report.add(*entry, tuner, results, [&] { return TuneProblem(*entry->op, i); });
    }
    report.add(*entry, std::move(results));
  }
  report.finish(tuner, context);
}

}  // namespace kolmo::cli
