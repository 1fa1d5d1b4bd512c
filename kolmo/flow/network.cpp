#include "kolmo/flow/network.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "kolmo/flow/checkpoint.hpp"
#include "kolmo/flow/estimate_batch.hpp"
#include "kolmo/flow/network_record.hpp"
#include "kolmo/flow/pace.hpp"
#include "kolmo/flow/progress.hpp"

namespace kolmo {
namespace {

constexpr std::int64_t target_record = -1;  // in place of the source's number
constexpr double max_batch_bytes = 512e6;

double embedding_work(const Series& series, const NetworkOptions& o) {
  const auto candidates = double(1 + (o.max_history - 1) * o.max_tau);
  const double searched = o.embedding == EmbeddingRule::given ? 0
                          : o.embedding == EmbeddingRule::ais ? candidates * double(1 + o.storage_surrogates)
                                                              : candidates;
  return (1 + searched) * double(series.rows());
}

double link_work(const Series& series, const NetworkOptions& o) {
  return double(series.rows()) * double(o.max_lag) * double(1 + o.estimator.surrogates);
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
  Inference(const Series& series, const NetworkOptions& options, Stream& stream, Checkpoint* checkpoint,
            Progress* progress)
      : series_(series), o_(options), stream_(stream), checkpoint_(checkpoint), progress_(progress) {}

  Network run() {
    embed_targets();
    find_pending();
    estimate_links();
    finish();
    return std::move(network_);
  }

 private:
  using Records = std::map<Checkpoint::Id, std::string>;

  void embed_targets();
  void find_pending();
  std::vector<Pending> next_batch(const Pace& pace);
  void estimate_links();
  void take(const LinkBatch& batch, const std::vector<Estimates>& results);
  EstimationTask task_of(const Pending& p) const;
  LinkResult link_from(const Pending& p, std::size_t which, const Estimates& e) const;
  void finish();

  std::int64_t number_of(std::int32_t variable) const { return series_.numbers[std::size_t(variable)]; }
  const std::string* finished(std::int64_t target, std::int64_t source) const {
    if (!checkpoint_) return nullptr;
    const auto found = checkpoint_->finished().find({target, source});
    return found == checkpoint_->finished().end() ? nullptr : &found->second;
  }
  void keep(const Records& records) const {
    if (checkpoint_) checkpoint_->add(records);
  }
  void advance(double work, bool earlier = false) const {
    if (progress_) progress_->advance(work, earlier);
  }

  const Series& series_;
  const NetworkOptions& o_;
  Stream& stream_;
  Checkpoint* checkpoint_;
  Progress* progress_;
  Network network_;
  std::vector<Pending> pending_;
};

void Inference::embed_targets() {
  const double work = embedding_work(series_, o_);
  std::vector<std::int32_t> left;
  for (const std::int32_t v : o_.variables) {
    const std::string* text = finished(number_of(v), target_record);
    if (text)
      network_.targets.push_back(target_from_record(v, *text));
    else
      left.push_back(v);
    if (text) advance(work, true);
  }
  Pace pace;
  for (std::size_t i = 0, count; i < left.size(); i += count) {
    count = pace.fit(work, left.size() - i);
    const auto group = std::span(left).subspan(i, count);
    const auto results =
        pace.measure(work * double(count), [&] { return choose_embeddings(series_, o_, group, stream_); });
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
        advance(link_work(series_, o_), true);
      } else {
        p.sources.push_back(s);
      }
    }
    if (!p.sources.empty()) pending_.push_back(std::move(p));
  }
}

/// Some sources of one target, or all those of several targets of equal dimensions.
std::vector<Pending> Inference::next_batch(const Pace& pace) {
  const double bytes = double(series_.rows() * o_.max_lag * o_.source.history) * sizeof(double);
  const auto sources = std::min(pace.fit(link_work(series_, o_), o_.variables.size() * o_.variables.size()),
                                std::size_t(std::max(1.0, max_batch_bytes / bytes)));
  Pending& first = pending_.front();
  if (sources < first.sources.size()) {
    const auto end = first.sources.begin() + std::ptrdiff_t(sources);
    Pending part{first.target, {first.sources.begin(), end}};
    first.sources.erase(first.sources.begin(), end);
    return {std::move(part)};
  }
  std::size_t count = 1;
  while (count < pending_.size() && (count + 1) * first.sources.size() <= sources &&
         pending_[count].sources.size() == first.sources.size() &&
         pending_[count].target.embedding.history == first.target.embedding.history)
    ++count;
  const auto end = pending_.begin() + std::ptrdiff_t(count);
  std::vector<Pending> batch(pending_.begin(), end);
  pending_.erase(pending_.begin(), end);
  return batch;
}

EstimationTask Inference::task_of(const Pending& p) const {
  const std::int32_t target = p.target.target;
  EstimationTask t{series_.file + ": links to " + series_.names[std::size_t(target)],
                   {},
                   {{target, 0}},
                   past(target, p.target.embedding),
                   embeddable(series_, network_reach(o_, p.target.embedding)),
                   {}};
  for (const std::int32_t g : o_.given) t.z.push_back({g, 1});
  for (const std::int32_t s : p.sources)
    for (std::int64_t lag = 1; lag <= o_.max_lag; ++lag) {
      t.x.push_back(past(s, o_.source, lag));
      t.streams.push_back(random_stream(number_of(target), number_of(s)));
    }
  return t;
}

LinkResult Inference::link_from(const Pending& p, std::size_t which, const Estimates& e) const {
  LinkResult link;
  link.source = p.sources[which], link.target = p.target.target;
  const auto lags = std::size_t(o_.max_lag);
  std::vector<double> largest(std::size_t(e.surrogates), -std::numeric_limits<double>::infinity());
  for (std::size_t lag = 0; lag < lags; ++lag) {
    const std::size_t alternative = which * lags + lag;
    link.profile.push_back(e.observed(alternative));
    const auto surrogate = e.surrogate(alternative);
    for (std::size_t s = 0; s < largest.size(); ++s) largest[s] = std::max(largest[s], surrogate[s]);
  }
  const auto best = std::max_element(link.profile.begin(), link.profile.end());
  link.value = *best;
  link.lag = 1 + (best - link.profile.begin());
  link.p_value = p_value(link.value, largest, o_.p_value);
  link.surrogates = summarize(largest);
  return link;
}

/// While the device estimates one batch, the host embeds the next.
void Inference::estimate_links() {
  using Clock = std::chrono::steady_clock;
  Pace pace;
  auto last = Clock::now();
  std::exception_ptr error;
  const auto done = [&](LinkPipeline::Result& r) {
    try {
      if (error) return;
      if (r.error) std::rethrow_exception(r.error);
      const auto now = Clock::now();
      pace.took(r.item.work, std::chrono::duration<double>(now - last).count());
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
    LinkBatch b;
    b.pending = next_batch(pace);
    for (const Pending& p : b.pending) b.tasks.push_back(task_of(p));
    b.batch = EstimateBatch(series_, b.tasks, o_.estimator);
    b.work = link_work(series_, o_) * double(b.pending.size() * b.pending[0].sources.size());
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
      const LinkResult link = link_from(batch.pending[i], s, results[i]);
      records[{number_of(link.target), number_of(link.source)}] = to_record(link);
      network_.links.push_back(link);
    }
  keep(records);
  advance(batch.work);
}

void Inference::finish() {
  const auto place = [&](std::int32_t v) {
    return std::find(o_.variables.begin(), o_.variables.end(), v) - o_.variables.begin();
  };
  std::sort(network_.links.begin(), network_.links.end(), [&](const LinkResult& a, const LinkResult& b) {
    return std::pair(place(a.target), place(a.source)) < std::pair(place(b.target), place(b.source));
  });
  std::vector<double> p;
  p.reserve(network_.links.size());
  for (const LinkResult& link : network_.links) p.push_back(link.p_value);
  const std::vector<double> adjusted = adjust(p, o_.correction);
  for (std::size_t i = 0; i < p.size(); ++i) {
    network_.links[i].p_adjusted = std::isnan(p[i]) ? p[i] : adjusted[i];
    network_.links[i].significant = is_significant(network_.links[i].p_adjusted, o_.alpha, o_.p_value);
  }
}

}  // namespace

std::int64_t network_reach(const NetworkOptions& o, const Embedding& target) {
  return std::max({1 + (target.history - 1) * target.tau, o.max_lag + (o.source.history - 1) * o.source.tau,
                   std::int64_t(1)});
}

double network_work(const Series& series, const NetworkOptions& o) {
  const auto n = double(o.variables.size());
  return n * embedding_work(series, o) + n * (n - 1) * link_work(series, o);
}

void check_network(const Series& series, const NetworkOptions& o) {
  if (o.variables.size() < 2) fail<InvalidArgument>("network: needs two variables or more");
  const Embedding longest =
      o.embedding == EmbeddingRule::given ? o.target : Embedding{o.max_history, o.max_tau};
  const EstimationTask task{series.file + ": links to " + series.names[std::size_t(o.variables[0])],
                            {past(0, o.source)},
                            {{0, 0}},
                            Coordinates(std::size_t(longest.history) + o.given.size()),
                            embeddable(series, network_reach(o, longest)),
                            {}};
  check_task(task, o.estimator);
}

Network infer_network(const Series& series, const NetworkOptions& options, Stream& stream,
                      Checkpoint* checkpoint, Progress* progress) {
  check_network(series, options);
  return Inference(series, options, stream, checkpoint, progress).run();
}

}  // namespace kolmo
