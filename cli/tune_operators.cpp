#include <unistd.h>

#include <chrono>
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
#include "kolmo/tune/turn.hpp"

namespace kolmo::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The tuning result of one case. A speed-up is the reference's time divided by the winner's; 0 without a
/// reference.
struct Row {
  std::string name, configuration, note;
  Json json;
  double seconds = 0, vs_default = 0, vs_naive = 0, vs_occupancy = 0, vs_vendor = 0, share = 0;
};

std::string factor(double x) { return x > 0 ? significant(x, 3) + "x" : "-"; }

/// The time that a case may take.
struct CaseBudget {
  double measuring = 5;  // seconds
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

class Tuner {
 public:
  Tuner(const TuneCommand& o, tune::Store& store, Stream& stream) : o_(o), store_(store), stream_(stream) {
    options_.search = o.search;
    if (!o.under_load) options_.measure.load = tune::machine_load;
    options_.measure.mode = tune::default_mode(stream.device().kind);
    for (std::size_t m = 0; m < std::size(tune::mode_names); ++m)
      if (o.mode == tune::mode_names[m]) options_.measure.mode = tune::Mode(m);
  }

  const std::string mode() const { return std::string(tune::to_string(options_.measure.mode)); }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  std::size_t tried() const { return tried_; }

  /// Whether the first calls of a case would end after its deadline, even at the device's peaks.
  bool too_long(const OpBase& op, const TuneProblem& tp, const CaseBudget& budget) {
    constexpr double first_calls = 4;
    const double least =
        check::least_seconds(cost(op, tp.problem().args()), tp.problem().info().dtype, stream_);
    const std::chrono::duration<double> left = budget.deadline - std::chrono::steady_clock::now();
    return first_calls * least > left.count();
  }

  /// Tunes a case. Returns nothing if the store has a fresh result and only other cases are to be tuned.
  /// `budget` is the time for this case; nothing begins after the deadline.
  std::optional<Row> operator()(const OpBase& op, const TuneProblem& tp, const CaseBudget& budget) {
    const check::Problem& problem = tp.problem();
    check::Placement placed(problem, stream_);
    if (!o_.dry_run) tune::require_writable(op, placed.args(), stream_, options_.measure.mode, store_);
    if (o_.stale && tune::fresh(op, placed.args(), stream_, options_.measure.mode, store_)) return {};
    std::optional<check::Verifier> verifier;
    tune::CallOptions options = options_;
    options.search.budget = budget.measuring, options.search.deadline = budget.deadline;
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
    const tune::Turn turn(
        store_, [] { std::cerr << "kolmo: another kolmo tune measures; this one waits" << std::endl; });
    const auto tuned = tune::tune_call(op, placed.args(), stream_, options, &store_);
    if (!o_.dry_run) tune::keep(tuned, store_);
    tried_ += tuned.tuning.tried;
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
      row.note += std::string(row.note.empty() ? "" : "; ") + "not decided: the time was too short";
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
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::size_t tried_ = 0;
};

/// The cases for which an operator is tuned: those selected; by default those for benchmarks, or all if there
/// are none.
std::vector<std::size_t> cases_of(const OpEntry& entry, const TuneCommand& o, bool emulated) {
  const auto cases = entry.op->cases();
  std::vector<std::size_t> large, all;
  for (const std::size_t i : chosen_cases(entry, o.filter)) {
    if (emulated && cases[i].benchmark_only) continue;
    all.push_back(i);
    if (cases[i].benchmark_only) large.push_back(i);
  }
  return large.empty() || !o.filter.empty() ? all : large;
}

/// A case of an operator, or a call that had no configuration.
struct Job {
  const OpEntry* entry;
  std::string name;
  double size;  // product of its sizes; small ones are tuned first, so that large ones get their unused time
  std::function<TuneProblem()> make;
  Json result = {};
};

/// Collects results as they are found, and prints them with a summary.
class Report {
 public:
  Report(const TuneCommand& o, Stream& stream, Context& context, std::size_t all)
      : o_(o), record_("tune", stream.device(), context.command_line), all_(all) {}

  void tune(Job& job, Tuner& tuner, const CaseBudget& budget) {
    try {
      ++started_;
      show(std::string(job.entry->name()) + ", " + job.name);
      const TuneProblem problem = job.make();
      if (tuner.too_long(*job.entry->op, problem, budget)) return leave_out(job);
      const auto tuned = tuner(*job.entry->op, problem, budget);
      if (!tuned) {
        ++fresh_;
        return;
      }
      const Row& row = *tuned;
      job.result = row.json;
      table_.add({std::string(job.entry->name()), row.name, row.configuration, duration(row.seconds),
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
      job.result = {{"error", e.what()}};
      std::cerr << "kolmo: " << e.what() << '\n';
    }
  }
  void leave_out(Job& job) {
    not_reached_.push_back(std::string(job.entry->name()) + ", " + job.name);
    job.result = {{"case", job.name}, {"left_out", "by the budget of time"}};
  }
  void add(const OpEntry& entry, Json results) { record_.add(entry, std::move(results)); }

  void finish(const Tuner& tuner, Context& context) {
    show("");
    const double average = tuned_ ? std::exp(log_speedup_ / double(tuned_)) : 1;
    record_.set("summary", {{"cases", tuned_},
                            {"average_speedup", average},
                            {"best_speedup", best_},
                            {"fresh", fresh_},
                            {"configurations_tried", tuner.tried()},
                            {"seconds", tuner.seconds()},
                            {"mode", tuner.mode()},
                            {"failed", failed_},
                            {"not_reached", not_reached_}});
    if (!o_.record.empty()) record_.write(o_.record);
    context.status = failed_ ? 1 : 0;
    if (o_.json) {
      std::cout << record_.json().dump(2) << '\n';
      return;
    }
    if (!table_.empty()) table_.print(std::cout);
    for (const std::string& name : not_reached_)
      std::cout << "not reached, to end in " << significant(o_.budget) << " s (--budget): " << name << '\n';
    if (fresh_) std::cout << fresh_ << " cases have a fresh result\n";
    std::cout << tuned_ << " cases, " << tuner.tried() << " configurations tried in "
              << duration(tuner.seconds()) << " (" << tuner.mode() << "); average speed-up over the defaults "
              << significant(average, 3) << "x (geometric mean)\n";
  }

 private:
  /// On a terminal, shows what is being tuned, in one line that the next one replaces.
  void show(const std::string& what) const {
    if (!terminal_) return;
    if (!what.empty()) std::cerr << "tuning " << started_ << " of " << all_ << ": " << what;
    std::cerr << "\033[K\r" << std::flush;
  }

  const TuneCommand& o_;
  Record record_;
  TextTable table_{{"operator", "case", "configuration", ">time", ">default", ">naive", ">occupancy",
                    ">vendor", ">of roofline", ""}};
  double log_speedup_ = 0, best_ = 1;
  std::size_t tuned_ = 0, fresh_ = 0, failed_ = 0, started_ = 0;
  std::vector<std::string> not_reached_;
  const std::size_t all_;
  const bool terminal_ = isatty(STDERR_FILENO) == 1;
};

std::vector<Job> jobs_of(const TuneCommand& o, const std::vector<const OpEntry*>& entries,
                         const std::vector<tune::Store::Miss>& misses, DeviceKind kind) {
  std::vector<Job> jobs;
  for (const OpEntry* entry : entries) {
    const OpBase& op = *entry->op;
    for (const tune::Store::Miss& miss : misses) {
      if (miss.key.kernel != op.name || miss.key.kernel_hash != source_hash(op.name, kind)) continue;
      double size = 1;
      for (const tune::Key::Dim& d : miss.key.dims) size *= double(d.bucket.high);
      jobs.push_back({entry, sizes_of(miss.key), size, [&op, &miss] { return TuneProblem(op, miss); }});
    }
    if (o.misses) continue;
    for (const std::size_t i : cases_of(*entry, o, kind == DeviceKind::simt)) {
      const CaseInfo info = op.cases()[i];
      double size = 1;
      for (const CaseSize& s : info.sizes) size *= double(s.size);
      jobs.push_back({entry, std::string(info.name), size, [&op, i] { return TuneProblem(op, i); }});
    }
  }
  return jobs;
}

/// Tunes all jobs. With a budget of time, a case gets twice an equal share of what is left, as in kolmo
/// bench, but at least enough for a decision: it is better to leave out some cases than to decide none.
void tune_all(const TuneCommand& o, std::vector<Job>& jobs, Tuner& tuner, Report& report) {
  using Clock = std::chrono::steady_clock;
  constexpr double enough = 0.5, share_of_measuring = 0.6;  // the rest is for making and checking problems
  const auto end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(o.budget));
  std::vector<Job*> order;
  for (Job& job : jobs) order.push_back(&job);
  std::stable_sort(order.begin(), order.end(), [](Job* a, Job* b) { return a->size < b->size; });
  check::TimeBudget time(o.budget > 0 ? o.budget : 1e9, jobs.size());
  for (Job* job : order) {
    CaseBudget budget;
    const double share = time.next();
    if (o.budget > 0) {
      if (share <= 0) {
        report.leave_out(*job);
        continue;
      }
      budget = {share_of_measuring * std::max(share, std::min(enough, time.left())), end};
    }
    report.tune(*job, tuner, budget);
  }
}

}  // namespace

void tune_operators(const TuneCommand& o, tune::Store& store, Context& context) {
  const auto entries = o.selection.entries();
  require_case(entries, o.filter);
  Stream stream = o.device.open();
  const DeviceKind kind = stream.device().kind;
  if (!o.json)
    std::cout << "device: " << describe(stream)
              << (kind == DeviceKind::simt ? ", emulated: times are not those of a GPU" : "")
              << (o.dry_run ? "\n" : "\nstore:  " + store.root() + "\n") << std::flush;
  if (!o.dry_run) store.require_writable();
  Tuner tuner(o, store, stream);
  const auto misses = o.misses ? store.misses(tune::environment_of(stream.device(), tuner.mode()))
                               : std::vector<tune::Store::Miss>{};
  if (o.misses && misses.empty())
    std::cerr << "kolmo: no missed call of this device is listed; calls are listed once kolmo tune has made "
                 "its store: "
                 "run them again, then this\n";
  std::vector<Job> jobs = jobs_of(o, entries, misses, kind);
  require(!jobs.empty() || o.filter.empty(),
          "--case: the cases with '" + o.filter + "' in their name are too large for the emulated GPU");
  Report report(o, stream, context, jobs.size());
  tune_all(o, jobs, tuner, report);
  for (const OpEntry* entry : entries) {
    Json results = Json::array();
    for (Job& job : jobs)
      if (job.entry == entry && !job.result.is_null()) results.push_back(std::move(job.result));
    report.add(*entry, std::move(results));
  }
  report.finish(tuner, context);
}

}  // namespace kolmo::cli
