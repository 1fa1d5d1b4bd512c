#include "kolmo/flow/infer/scheduler.hpp"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "kolmo/flow/estimate/estimate_batch.hpp"
#include "kolmo/flow/estimate/progress.hpp"
#include "kolmo/runtime/cpu/interrupt.hpp"

namespace kolmo {
namespace {

/// The round of a search that is under way.
struct OpenRound {
  TargetSearch* search;
  std::int64_t number = 0;
  Round round{};
  std::vector<Estimates> results{};  // of each task
  std::size_t missing = 0;           // alternatives of all tasks
};

/// Some alternatives of a task, from `first` on.
struct Part {
  OpenRound* of;
  std::size_t task, first, count;
  std::int64_t rows_of_trial;  // for surrogates by trials

  const EstimationTask& whole() const { return of->round.tasks[task]; }
  SurrogateRange draws() const { return of->round.surrogates; }
};

/// Parts that are estimated together.
struct Batch {
  std::vector<Part> parts;
  std::vector<EstimationTask> tasks;
  EstimateBatch batch;  // of these tasks
  double work = 0;
  std::size_t stream = 0;  // that estimates it
};

/// Parts whose shapes are equal can be estimated together.
auto shape(const Part& p) {
  const EstimationTask& t = p.whole();
  return std::tuple(t.x.at(0).size(), t.y.size(), t.z.size(), t.times.size(), t.min_shifts.empty(),
                    p.draws().first, p.draws().count, p.count, p.rows_of_trial);
}

EstimationTask task_of(const Part& p) {
  const auto part = [&](const auto& all) {
    const auto from = all.begin() + std::ptrdiff_t(p.first);
    return std::decay_t<decltype(all)>(from, from + std::ptrdiff_t(p.count));
  };
  const EstimationTask& t = p.whole();
  return {t.name,
          part(t.x),
          t.y,
          t.z,
          t.times,
          part(t.streams),
          t.min_shifts.empty() ? t.min_shifts : part(t.min_shifts)};
}

class Scheduler {
 public:
  explicit Scheduler(const SchedulerOptions& options)
      : o_(options),
        batching_(o_.limits ? *o_.limits : BatchLimits::of(o_.streams.widest(), o_.series.rows()), 1,
                  o_.series.rows(), 1) {}

  void run(std::span<TargetSearch* const> searches);

 private:
  class Pipelines;

  bool goes_on();
  double waiting_work() const;
  void ask(OpenRound& open);
  std::vector<Part> take_parts();
  Batch next_batch();
  void estimate_by_pipelines();
  void estimate_at_once();
  void take(const Batch& batch, const std::vector<Estimates>& results);

  double work_of(std::int64_t estimates) const { return double(estimates) * double(o_.series.rows()); }
  void advance(double work, bool earlier = false) const {
    if (o_.progress) o_.progress->advance(work, earlier);
  }

  const SchedulerOptions& o_;
  Batching batching_;
  std::vector<OpenRound> open_;  // of each search
  std::vector<Part> waiting_;    // by shape
  bool estimated_ = false;       // since go_on was called
};

void Scheduler::run(std::span<TargetSearch* const> searches) {
  for (TargetSearch* search : searches) open_.push_back({.search = search});
  do {
    for (OpenRound& open : open_) {
      const Replayed done = o_.work ? replay(*open.search, o_.work->finished(), open.number) : Replayed{};
      if (done.rounds) advance(work_of(done.estimates), true);
      open.number += done.rounds;
    }
    for (OpenRound& open : open_) ask(open);
    if (o_.estimator.estimator == Estimator::ksg)
      estimate_by_pipelines();
    else
      estimate_at_once();
  } while (goes_on());
}

bool Scheduler::goes_on() {
  const std::int64_t estimates = o_.go_on ? o_.go_on(std::exchange(estimated_, false)) : 0;
  if (o_.progress) o_.progress->expect(work_of(estimates));
  return estimates > 0;
}

void Scheduler::ask(OpenRound& open) {
  std::optional<Round> next = open.search->next();
  if (!next) return;
  open.round = std::move(*next);
  require(!open.round.tasks.empty(), "scheduler: a round has no tasks");
  const SurrogateRange draws = open.round.surrogates;
  for (std::size_t i = 0; i < open.round.tasks.size(); ++i) {
    const std::size_t alternatives = open.round.tasks[i].x.size();
    open.results.push_back({draws,
                            std::vector<std::int64_t>(alternatives),
                            std::vector<double>(alternatives * std::size_t(draws.count)),
                            {}});
    open.missing += alternatives;
    const EstimationTask& task = open.round.tasks[i];
    const bool by_trials = draws.count > 1 && o_.estimator.surrogate_type == SurrogateMethod::trials;
    const Part part{&open, i, 0, alternatives,
                    by_trials ? rows_of_trial(o_.series, task.times, task.name) : 0};
    const auto later = [](const Part& a, const Part& b) { return shape(a) < shape(b); };
    waiting_.insert(std::upper_bound(waiting_.begin(), waiting_.end(), part, later), part);
  }
}

double Scheduler::waiting_work() const {
  std::int64_t estimates = 0;
  for (const Part& p : waiting_) estimates += std::int64_t(p.count) * p.draws().count;
  return work_of(estimates);
}

/// Takes some alternatives of one task, or all of several tasks. Several devices take less and less, so that they end together.
std::vector<Part> Scheduler::take_parts() {
  Part& first = waiting_.front();
  const bool spectral = is_spectral(o_.estimator.surrogate_type);
  batching_.link(first.draws().count, double(o_.series.rows()) * double(first.whole().x[0].size()) *
                                          double(spectral ? first.draws().count : 1) * sizeof(double));
  if (o_.streams.size() > 1) batching_.limit(waiting_work() / (2 * double(o_.streams.size())));
  const auto other = std::find_if_not(waiting_.begin(), waiting_.end(),
                                      [&](const Part& p) { return shape(p) == shape(first); });
  const BatchSize size = batching_.next(std::int64_t(first.count), other - waiting_.begin());
  if (std::size_t(size.links) < first.count) {
    Part part = first;
    part.count = std::size_t(size.links);
    first.first += part.count, first.count -= part.count;
    return {part};
  }
  const auto end = waiting_.begin() + std::ptrdiff_t(size.targets);
  std::vector<Part> parts(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  return parts;
}

Batch Scheduler::next_batch() {
  Batch b{take_parts(), {}, {}, 0, 0};
  for (const Part& p : b.parts) {
    b.tasks.push_back(task_of(p));
    b.work += work_of(std::int64_t(p.count) * p.draws().count);
  }
  return b;
}

/// Estimates by the estimators that have no batches.
void Scheduler::estimate_at_once() {
  while (!waiting_.empty()) {
    check_interrupt();
    const Batch b = next_batch();
    take(b, batching_.measure(b.work, [&] {
      return estimate(o_.series, b.tasks, o_.estimator, o_.streams[0], b.parts[0].draws());
    }));
  }
}

/// The pipelines of all devices that are not lost, and the batches on their way.
class Scheduler::Pipelines {
 public:
  Pipelines(Scheduler& owner, const Streams& streams) : owner_(owner), streams_(streams) {
    for (std::size_t i = 0; i < streams.size(); ++i) all_.push_back(make(i));
  }

  /// Batches of a device that was lost; others estimate them again.
  std::vector<Batch>& again() { return again_; }
  /// Hands the batch to the device that has the least to do.
  void submit(Batch batch) {
    const std::size_t i = batch.stream = least_busy();
    const double work = batch.work;
    ++on_way_, ++all_[i].batches, all_[i].work += work;
    try {
      all_[i].pipeline->submit(std::move(batch));
    } catch (const DeviceError& e) {  // the batch is still here
      --on_way_, --all_[i].batches, all_[i].work -= work;
      lose(i, e);
      again_.push_back(std::move(batch));
    }
    poll();
  }
  /// Waits until a batch was taken, or is to be estimated again. Returns whether one was on its way.
  bool wait() {
    const std::size_t before = on_way_;
    for (poll(); before > 0 && on_way_ == before; check()) {
      check_interrupt();
      all_[soonest()].pipeline->wait();
    }
    return before > 0;
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Batches = Pipeline<Batch, std::vector<Estimates>>;
  struct One {
    std::unique_ptr<Batches> pipeline;
    std::size_t batches = 0;                // on their way
    double work = 0;                        // of these
    Clock::time_point last = Clock::now();  // when a batch was done
  };

  One make(std::size_t i) {
    if (!streams_.usable(i) && streams_.size() > 1) return {};
    const PipelineOptions options{.name = "network",
                                  .slots = 2,
                                  .queue = 1,
                                  .own_threads = false,
                                  .cpu_threads = streams_[i].threads()};
    return {std::make_unique<Batches>(
        streams_[i].device(), estimate_stages<Batch>(), [this](Batches::Result& r) { done(r); }, options)};
  }
  std::size_t least_busy() const {
    std::size_t best = all_.size();
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (streams_.usable(i) && (best == all_.size() || all_[i].work < all_[best].work)) best = i;
    return best;
  }
  /// The device that has the least left to do of those that have something; there is one.
  std::size_t soonest() const {
    std::size_t best = all_.size();
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i].batches > 0 && (best == all_.size() || all_[i].work < all_[best].work)) best = i;
    return best;
  }
  void poll() {
    for (One& one : all_)
      if (one.pipeline) one.pipeline->poll();
    check();
  }
  /// Throws the error if there is no other device.
  void lose(std::size_t i, const DeviceError& e) {
    streams_.lose(i, e.what());
    if (least_busy() == all_.size()) throw e;
  }
  void done(Batches::Result& r) {
    One& one = all_[r.item.stream];
    --on_way_, --one.batches, one.work -= r.item.work;
    if (error_) return;
    try {
      if (r.error) std::rethrow_exception(r.error);
      const auto now = Clock::now();
      owner_.batching_.took(r.item.work, std::chrono::duration<double>(now - one.last).count());
      one.last = now;
      owner_.take(r.item, r.value);
    } catch (const DeviceError& e) {
      try {
        lose(r.item.stream, e);
        again_.push_back(std::move(r.item));
      } catch (...) {
        error_ = std::current_exception();
      }
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  void check() const {
    if (error_) std::rethrow_exception(error_);
  }

  Scheduler& owner_;
  const Streams& streams_;
  std::size_t on_way_ = 0;  // batches of all
  std::vector<Batch> again_;
  std::exception_ptr error_;
  std::vector<One> all_;  // goes first, as it calls done()
};

void Scheduler::estimate_by_pipelines() {
  Pipelines pipelines(*this, o_.streams);
  for (;;) {
    check_interrupt();
    std::vector<Batch>& again = pipelines.again();
    if (!again.empty()) {
      Batch b = std::move(again.back());
      again.pop_back();
      pipelines.submit(std::move(b));
    } else if (!waiting_.empty()) {
      Batch b = next_batch();
      b.batch = EstimateBatch(o_.series, b.tasks, o_.estimator, b.parts[0].draws());
      pipelines.submit(std::move(b));
    } else if (!pipelines.wait()) {  // what is taken may ask for more
      break;
    }
  }
}

void Scheduler::take(const Batch& batch, const std::vector<Estimates>& results) {
  std::vector<OpenRound*> finished;
  for (std::size_t i = 0; i < batch.parts.size(); ++i) {
    const Part& p = batch.parts[i];
    const Estimates& from = results[i];
    Estimates& to = p.of->results[p.task];
    const auto at = [&](auto& all, std::size_t each) { return all.begin() + std::ptrdiff_t(p.first * each); };
    std::copy(from.different.begin(), from.different.end(), at(to.different, 1));
    std::copy(from.values.begin(), from.values.end(), at(to.values, std::size_t(p.draws().count)));
    if (!from.p_values.empty()) {
      to.p_values.resize(to.different.size());
      std::copy(from.p_values.begin(), from.p_values.end(), at(to.p_values, 1));
    }
    if ((p.of->missing -= p.count) == 0) finished.push_back(p.of);
  }
  estimated_ = true;
  FinishedWork::Records records;
  for (OpenRound* open : finished) {
    open->search->take(open->results);
    open->results.clear();
    records[{open->search->number(), open->number++}] = open->search->record();
  }
  if (o_.work && !records.empty()) o_.work->add(records);
  advance(batch.work);
  for (OpenRound* open : finished) ask(*open);
}

}  // namespace

void run_searches(std::span<TargetSearch* const> searches, const SchedulerOptions& options) {
  Scheduler(options).run(searches);
}

Replayed replay(TargetSearch& search, const FinishedWork::Records& records, std::int64_t first) {
  Replayed done;
  for (; !search.waits(); ++done.rounds) {
    const auto found = records.find({search.number(), first + done.rounds});
    if (found == records.end()) break;
    done.estimates += search.replay(found->second);
  }
  return done;
}

}  // namespace kolmo
