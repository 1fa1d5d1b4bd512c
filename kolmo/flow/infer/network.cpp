#include "kolmo/flow/infer/network.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "kolmo/flow/estimate/analytic_test.hpp"
#include "kolmo/flow/estimate/batching.hpp"
#include "kolmo/flow/estimate/discrete.hpp"
#include "kolmo/flow/estimate/estimate_batch.hpp"
#include "kolmo/flow/estimate/progress.hpp"
#include "kolmo/flow/infer/checkpoint.hpp"
#include "kolmo/flow/infer/network_record.hpp"
#include "kolmo/runtime/cpu/interrupt.hpp"

namespace kolmo {
namespace {

constexpr std::int64_t target_record = -1;  // in place of the source's index

double embedding_work(const Series& series, const NetworkOptions& o) {
  const auto candidates = double(1 + (o.max_history - 1) * o.max_tau);
  const double searched = o.embedding == EmbeddingRule::given ? 0 : candidates;
  return (1 + searched) * double(series.rows());
}

double link_work(const Series& series, const NetworkOptions& o) {
  return double(series.rows()) * double(o.lags()) * double(1 + o.estimator.surrogates);
}

/// Links of one target that are still to be estimated.
struct Pending {
  TargetResult target;
  std::vector<std::int32_t> sources;
};

/// Links that are estimated together.
struct LinkBatch {
  std::vector<Pending> pending;
  std::vector<EstimationTask> tasks;
  EstimateBatch batch;  // of these tasks
  double work = 0;
};
using LinkPipeline = Pipeline<LinkBatch, std::vector<Estimates>>;

class Inference {
 public:
  Inference(const Series& series, const NetworkOptions& options, Stream& stream, FinishedWork* work,
            Progress* progress)
      : series_(series),
        o_(options),
        stream_(stream),
        work_(work),
        progress_(progress),
        shifts_(series, options),
        limits_(options.batches ? *options.batches : BatchLimits::of(stream.device().kind, series.rows())) {}

  Network run() {
    embed_targets();
    find_pending();
    if (o_.estimator.estimator == Estimator::ksg)
      estimate_links();
    else
      estimate_links_on_cpu();
    finish();
    return std::move(network_);
  }

 private:
  using Records = FinishedWork::Records;

  std::int64_t targets_at_once(const Batching& batching, double work, std::int64_t left) const;
  void embed_targets();
  void find_pending();
  /// Links whose keys are equal can be estimated together.
  auto key(const Pending& p) const {
    return std::tuple(p.target.embedding.history, network_reach(o_, p.target.embedding), p.sources.size());
  }
  LinkBatch next_batch(const Batching& batching);
  std::vector<Pending> take_pending(const Batching& batching);
  void estimate_links();
  void estimate_links_on_cpu();
  void take(const LinkBatch& batch, const std::vector<Estimates>& results);
  void finish();

  std::int64_t number_of(std::int32_t variable) const { return series_.numbers[std::size_t(variable)]; }
  const std::string* finished(std::int64_t target, std::int64_t source) const {
    if (!work_) return nullptr;
    const auto found = work_->finished().find({target, source});
    return found == work_->finished().end() ? nullptr : &found->second;
  }
  void keep(const Records& records) const {
    if (work_) work_->add(records);
  }
  void advance(double work, bool earlier = false) const {
    if (progress_) progress_->advance(work, earlier);
  }

  const Series& series_;
  const NetworkOptions& o_;
  Stream& stream_;
  FinishedWork* work_;
  Progress* progress_;
  LinkShifts shifts_;
  BatchLimits limits_;
  Network network_;
  std::vector<Pending> pending_;
};

/// As many as take a while, but for the fastest variant of the estimator not too few nor too many.
std::int64_t Inference::targets_at_once(const Batching& batching, double work, std::int64_t left) const {
  const auto least = std::int64_t(std::clamp(limits_.least_work / work, 1.0, double(left)));
  const std::int64_t most = std::max<std::int64_t>(1, limits_.most_rows / series_.rows());
  return std::min(std::max(least, batching.fit(work, left)), most);
}

void Inference::embed_targets() {
  const double work = embedding_work(series_, o_);
  std::vector<std::int32_t> left;
  for (const std::int32_t v : o_.chosen_targets()) {
    const std::string* text = finished(number_of(v), target_record);
    if (text)
      network_.targets.push_back(target_from_record(v, *text));
    else
      left.push_back(v);
    if (text) advance(work, true);
  }
  Batching batching(limits_, 1, series_.rows(), 1);
  for (std::size_t i = 0, count; i < left.size(); i += count) {
    check_interrupt();
    count = std::size_t(targets_at_once(batching, work, std::int64_t(left.size() - i)));
    const auto group = std::span(left).subspan(i, count);
    const auto results = batching.measure(work * double(count),
                                          [&] { return choose_embeddings(series_, o_, group, stream_); });
    Records records;
    for (const TargetResult& r : results) records[{number_of(r.target), target_record}] = to_record(r);
    keep(records);
    network_.targets.insert(network_.targets.end(), results.begin(), results.end());
    advance(work * double(count));
  }
  const auto place = [&](std::int32_t v) { return std::find(o_.variables.begin(), o_.variables.end(), v); };
  std::sort(network_.targets.begin(), network_.targets.end(),
            [&](const auto& a, const auto& b) { return place(a.target) < place(b.target); });
}

void Inference::find_pending() {
  for (const TargetResult& t : network_.targets) {
    Pending p{t, {}};
    for (const std::int32_t s : o_.variables) {
      if (s == t.target) continue;
      if (const std::string* text = finished(number_of(t.target), number_of(s))) {
        network_.links.push_back(link_from_record(s, t.target, *text));
        network_.links.back().min_shift = shifts_.of(s, t.target);
        advance(link_work(series_, o_), true);
      } else {
        p.sources.push_back(s);
      }
    }
    if (!p.sources.empty()) pending_.push_back(std::move(p));
  }
  std::stable_sort(pending_.begin(), pending_.end(),
                   [&](const Pending& a, const Pending& b) { return key(a) < key(b); });
}

/// Some sources of one target, or all sources of several targets.
std::vector<Pending> Inference::take_pending(const Batching& batching) {
  Pending& first = pending_.front();
  const auto alike = [&](const Pending& p) { return key(p) == key(first); };
  const auto other = std::find_if_not(pending_.begin(), pending_.end(), alike);
  const BatchSize size =
      batching.next(std::int64_t(first.sources.size()), std::int64_t(other - pending_.begin()));
  if (std::size_t(size.links) < first.sources.size()) {
    const auto end = first.sources.begin() + std::ptrdiff_t(size.links);
    Pending part{first.target, {first.sources.begin(), end}};
    first.sources.erase(first.sources.begin(), end);
    return {std::move(part)};
  }
  const auto end = pending_.begin() + std::ptrdiff_t(size.targets);
  std::vector<Pending> batch(pending_.begin(), end);
  pending_.erase(pending_.begin(), end);
  return batch;
}

LinkBatch Inference::next_batch(const Batching& batching) {
  LinkBatch b;
  b.pending = take_pending(batching);
  for (const Pending& p : b.pending) {
    b.tasks.push_back(link_task(series_, o_, p.target, p.sources));
    for (const std::int32_t s : p.sources)
      b.tasks.back().min_shifts.insert(b.tasks.back().min_shifts.end(), std::size_t(o_.lags()),
                                       shifts_.of(s, p.target.target));
  }
  b.work = link_work(series_, o_) * double(b.pending.size() * b.pending[0].sources.size());
  return b;
}

/// For the estimators that have no batches.
void Inference::estimate_links_on_cpu() {
  Batching batching(limits_, o_.lags() * (1 + o_.estimator.surrogates), series_.rows(),
                    double(series_.rows() * o_.lags() * o_.source.history) * sizeof(double));
  while (!pending_.empty()) {
    check_interrupt();
    const LinkBatch b = next_batch(batching);
    take(b, batching.measure(b.work, [&] { return estimate(series_, b.tasks, o_.estimator, stream_); }));
  }
}

/// While the device estimates one batch, the host embeds the next.
void Inference::estimate_links() {
  using Clock = std::chrono::steady_clock;
  const std::int64_t copies = is_spectral(o_.estimator.surrogate_type) ? 1 + o_.estimator.surrogates : 1;
  Batching batching(limits_, o_.lags() * (1 + o_.estimator.surrogates), series_.rows(),
                    double(series_.rows() * o_.lags() * copies * o_.source.history) * sizeof(double));
  auto last = Clock::now();
  std::exception_ptr error;
  const auto done = [&](LinkPipeline::Result& r) {
    try {
      if (error) return;
      if (r.error) std::rethrow_exception(r.error);
      const auto now = Clock::now();
      batching.took(r.item.work, std::chrono::duration<double>(now - last).count());
      last = now;
      take(r.item, r.value);
    } catch (...) {
      error = std::current_exception();
    }
  };
  LinkPipeline pipeline(
      stream_.device(), estimate_stages<LinkBatch>(), done,
      {.name = "network", .slots = 2, .queue = 1, .own_threads = false, .cpu_threads = stream_.threads()});
  while (!pending_.empty() && !error) {
    check_interrupt();
    LinkBatch b = next_batch(batching);
    b.batch = EstimateBatch(series_, b.tasks, o_.estimator);
    pipeline.submit(std::move(b));
    pipeline.poll();
  }
  pipeline.drain();
  if (error) std::rethrow_exception(error);
}

void Inference::take(const LinkBatch& batch, const std::vector<Estimates>& results) {
  Records records;
  for (std::size_t i = 0; i < batch.pending.size(); ++i)
    for (std::size_t s = 0; s < batch.pending[i].sources.size(); ++s) {
      const Pending& p = batch.pending[i];
      LinkResult link = link_of(o_, p.sources[s], p.target.target, s, results[i]);
      link.min_shift = shifts_.of(link.source, link.target);
      records[{number_of(link.target), number_of(link.source)}] = to_record(link);
      network_.links.push_back(link);
    }
  keep(records);
  advance(batch.work);
}

void Inference::finish() {
  std::vector<std::size_t> place(series_.names.size());
  for (std::size_t i = 0; i < o_.variables.size(); ++i) place[std::size_t(o_.variables[i])] = i;
  std::sort(network_.links.begin(), network_.links.end(), [&](const LinkResult& a, const LinkResult& b) {
    const auto key = [&](const LinkResult& l) {
      return std::pair(place[std::size_t(l.target)], place[std::size_t(l.source)]);
    };
    return key(a) < key(b);
  });
  std::vector<double> p;
  p.reserve(network_.links.size());
  for (const LinkResult& link : network_.links) p.push_back(link.p_value);
  const std::vector<double> adjusted = adjust(p, o_.correction);
  for (std::size_t i = 0; i < p.size(); ++i) {
    network_.links[i].p_adjusted = std::isnan(p[i]) ? p[i] : adjusted[i];
    network_.links[i].significant =
        network_.links[i].value > 0 && is_significant(network_.links[i].p_adjusted, o_.alpha, o_.p_value);
  }
}

}  // namespace

double network_work(const Series& series, const NetworkOptions& o) {
  const auto sources = double(o.variables.size() - 1), targets = double(o.chosen_targets().size());
  return targets * (embedding_work(series, o) + sources * link_work(series, o));
}

void check_network(const Series& series, const NetworkOptions& o) {
  if (o.variables.size() < 2) fail<InvalidArgument>("network: needs two variables or more");
  for (const std::int32_t t : o.targets)
    if (std::find(o.variables.begin(), o.variables.end(), t) == o.variables.end())
      fail<InvalidArgument>("network: the target " + series.names[std::size_t(t)] +
                            " is not one of its variables");
  require(o.min_lag >= 1 && o.min_lag <= o.max_lag,
          "network: lags start at 1 or above and end at or above that");
  check_task(series, link_task(series, o, {o.variables[1], longest_embedding(o), 0, 0}, {&o.variables[0], 1}),
             o.estimator);
  std::vector<std::int32_t> used = o.variables;
  for (const Coordinate& g : o.given) used.push_back(g.variable);
  check_states(series, used, o.estimator);
  require(o.estimator.estimator == Estimator::ksg || o.embedding != EmbeddingRule::ragwitz,
          "network: embedding ragwitz predicts by nearest neighbours, and is for the estimator ksg only");
}

Network infer_network(const Series& series, const NetworkOptions& options, Stream& stream,
                      FinishedWork* finished, Progress* progress) {
  const NetworkOptions o = settled(options, series);
  check_network(series, o);
  return Inference(series, o, stream, finished, progress).run();
}

}  // namespace kolmo
