#include "kolmo/flow/infer/network.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <set>

#include "kolmo/flow/estimate/progress.hpp"
#include "kolmo/flow/infer/choose_embedding.hpp"
#include "kolmo/flow/infer/greedy_network.hpp"
#include "kolmo/flow/infer/network_record.hpp"
#include "kolmo/flow/infer/pairwise_search.hpp"
#include "kolmo/flow/infer/scheduler.hpp"
#include "kolmo/runtime/cpu/interrupt.hpp"

namespace kolmo {
namespace {

using Searches = std::vector<std::unique_ptr<PairwiseSearch>>;

constexpr std::int64_t embedding_record = -1;  // in place of the number of a round

/// The embeddings of all targets, in the order of the variables. Those that `work` has are not chosen again.
class Embeddings {
 public:
  Embeddings(const PreparedNetwork& network, const BatchLimits& limits, const Streams& streams,
             FinishedWork* work, Progress* progress)
      : series_(network.series),
        o_(network.options),
        limits_(limits),
        streams_(streams),
        work_(work),
        progress_(progress) {}

  std::vector<TargetResult> choose();

 private:
  /// Returns how many targets take a while; they are neither too few nor too many for the fastest variant of the estimator.
  std::int64_t at_once(const Batching& batching, double work, std::int64_t left) const {
    const auto least = std::int64_t(std::clamp(limits_.least_work / work, 1.0, double(left)));
    const std::int64_t most = std::max<std::int64_t>(1, limits_.most_rows / series_.rows());
    return std::min(std::max(least, batching.fit(work, left)), most);
  }
  FinishedWork::Id id(std::int32_t target) const {
    return {series_.numbers[std::size_t(target)], embedding_record};
  }
  void advance(double work, bool earlier = false) const {
    if (progress_) progress_->advance(work, earlier);
  }

  const Series& series_;
  const NetworkOptions& o_;
  const BatchLimits& limits_;
  const Streams& streams_;
  FinishedWork* work_;
  Progress* progress_;
};

std::vector<TargetResult> Embeddings::choose() {
  const double work = embedding_work(series_, o_);
  std::vector<TargetResult> all;
  std::vector<std::int32_t> left;
  for (const std::int32_t v : o_.chosen_targets()) {
    const auto found = work_ ? work_->finished().find(id(v)) : FinishedWork::Records::const_iterator();
    if (!work_ || found == work_->finished().end()) {
      left.push_back(v);
      continue;
    }
    all.push_back(target_from_record(v, found->second));
    advance(work, true);
  }
  Batching batching(limits_, 1, series_.rows(), 1);
  for (std::size_t i = 0, count; i < left.size(); i += count) {
    check_interrupt();
    count = std::size_t(at_once(batching, work, std::int64_t(left.size() - i)));
    const auto group = std::span(left).subspan(i, count);
    const auto results = batching.measure(work * double(count), [&] {
      auto chosen = streams_.on_one([&](Stream& stream) {
        auto all = choose_embeddings(series_, o_, group, stream);
        measure_storage(series_, o_, all, stream);
        return all;
      });
      return chosen;
    });
    FinishedWork::Records records;
    for (const TargetResult& r : results) records[id(r.target)] = to_record(r);
    if (work_) work_->add(records);
    all.insert(all.end(), results.begin(), results.end());
    advance(work * double(count));
  }
  const auto place = [&](std::int32_t v) { return std::find(o_.variables.begin(), o_.variables.end(), v); };
  std::sort(all.begin(), all.end(),
            [&](const auto& a, const auto& b) { return place(a.target) < place(b.target); });
  return all;
}

void adjust_links(std::vector<LinkResult>& links, const NetworkOptions& o) {
  std::vector<double> p;
  p.reserve(links.size());
  for (const LinkResult& link : links) p.push_back(link.p_value);
  const std::vector<double> adjusted = adjust(p, o.correction);
  for (std::size_t i = 0; i < p.size(); ++i) {
    links[i].p_adjusted = std::isnan(p[i]) ? p[i] : adjusted[i];
    links[i].significant = links[i].value > 0 && is_significant(links[i].p_adjusted, o.alpha, o.p_value);
  }
}

/// Begins the next part of surrogates of all links that are open. Returns how many estimates that needs.
std::int64_t begin_part(const Searches& searches) {
  std::int64_t estimates = 0;
  for (const auto& search : searches) estimates += search->begin_part();
  return estimates;
}

/// The same, but 0 if the tests of the network may stop.
std::int64_t go_on(const Searches& searches, const NetworkOptions& o) {
  std::vector<double> p;
  std::vector<bool> open;
  for (const auto& search : searches)
    for (std::size_t i = 0; i < search->links().size(); ++i)
      p.push_back(search->links()[i].p_value), open.push_back(search->tests()[i].open());
  return may_stop(p, open, o.correction, o.alpha) ? 0 : begin_part(searches);
}

/// Chooses the embeddings of the targets, and estimates the links to them. `go_on` is that of SchedulerOptions.
Network infer(const PreparedNetwork& prepared, const Streams& streams, FinishedWork* work, Progress* progress,
              const std::function<std::int64_t(const Searches&, bool estimated)>& go_on) {
  const auto& [series, o, shifts] = prepared;
  const BatchLimits limits = o.batches ? *o.batches : BatchLimits::of(streams.widest(), series.rows());
  Network network;
  network.targets = Embeddings(prepared, limits, streams, work, progress).choose();
  Searches searches;
  std::vector<TargetSearch*> all;
  for (const TargetResult& target : network.targets) {
    searches.push_back(std::make_unique<PairwiseSearch>(prepared, target));
    all.push_back(searches.back().get());
  }
  run_searches(all, {series, o.estimator, streams, limits, work, progress,
                     [&](bool estimated) { return go_on(searches, estimated); }});
  const auto place = [&o = o](std::int32_t v) {
    return std::find(o.variables.begin(), o.variables.end(), v);
  };
  for (const auto& search : searches) {
    const auto from =
        network.links.insert(network.links.end(), search->links().begin(), search->links().end());
    std::sort(from, network.links.end(),
              [&](const LinkResult& a, const LinkResult& b) { return place(a.source) < place(b.source); });
  }
  return network;
}

}  // namespace

double network_work(const Series& series, const NetworkOptions& o) {
  if (o.method != NetworkMethod::pairwise) return greedy_work(series, o);
  const auto sources = double(o.variables.size() - 1), targets = double(o.chosen_targets().size());
  return targets * (embedding_work(series, o) + sources * link_work(series, o));
}

Network infer_network(const PreparedNetwork& prepared, const Streams& streams, FinishedWork* work,
                      Progress* progress) {
  if (prepared.options.method != NetworkMethod::pairwise)
    return infer_greedily(prepared, streams, work, progress);
  Network network = infer(prepared, streams, work, progress,
                          [&](const Searches& searches, bool) { return go_on(searches, prepared.options); });
  adjust_links(network.links, prepared.options);
  return network;
}

Network infer_network(const Series& series, const NetworkOptions& options, const Streams& streams,
                      FinishedWork* work, Progress* progress) {
  return infer_network(prepare_network(series, options), streams, work, progress);
}

void infer_step(const PreparedNetwork& prepared, std::span<const std::int32_t> targets,
                const Streams& streams, FinishedWork& work, Progress* progress) {
  PreparedNetwork of_targets = prepared;
  of_targets.options.targets.assign(targets.begin(), targets.end());
  if (prepared.options.method != NetworkMethod::pairwise) {
    infer_greedily(of_targets, streams, &work, progress);
    return;
  }
  bool estimated = false;
  infer(of_targets, streams, &work, progress, [&](const Searches& searches, bool now) {
    estimated |= now;
    return estimated ? 0 : begin_part(searches);
  });
}

std::vector<std::int32_t> unfinished_targets(const PreparedNetwork& prepared,
                                             const FinishedWork::Records& records) {
  std::set<std::int32_t> unfinished;
  Searches searches;
  std::vector<std::int64_t> rounds;
  for (const std::int32_t target : prepared.options.chosen_targets()) {
    if (prepared.options.method != NetworkMethod::pairwise) {
      if (!is_searched(prepared, target, records)) unfinished.insert(target);
      continue;
    }
    const std::int64_t number = prepared.series.numbers[std::size_t(target)];
    const auto embedding = records.find({number, embedding_record});
    if (embedding == records.end()) {
      unfinished.insert(target);
      continue;
    }
    searches.push_back(
        std::make_unique<PairwiseSearch>(prepared, target_from_record(target, embedding->second)));
    rounds.push_back(0);
  }
  do {
    for (std::size_t i = 0; i < searches.size(); ++i) {
      rounds[i] += replay(*searches[i], records, rounds[i]).rounds;
      if (!searches[i]->waits()) unfinished.insert(searches[i]->target());
    }
  } while (unfinished.empty() && go_on(searches, prepared.options));
  std::vector<std::int32_t> in_order = prepared.options.chosen_targets();
  std::erase_if(in_order, [&](std::int32_t target) { return !unfinished.contains(target); });
  return in_order;
}

}  // namespace kolmo
