#include "kolmo/flow/infer/choose_embedding.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "kolmo/flow/estimate/discrete.hpp"
#include "kolmo/flow/estimate/gaussian.hpp"
#include "kolmo/flow/infer/prepare.hpp"
#include "kolmo/op/host_call.hpp"
#include "kolmo/ops/info/nearest_neighbors/nearest_neighbors.hpp"

namespace kolmo {
namespace {

std::vector<Embedding> candidates(const NetworkOptions& o) {
  std::vector<Embedding> all;
  for (std::int64_t h = 1; h <= o.max_history; ++h)
    for (std::int64_t tau = 1; tau <= (h == 1 ? 1 : o.max_tau); ++tau) all.push_back({h, tau});
  return all;
}

/// Tasks of all candidates, over the same rows, so that their scores can be compared.
std::vector<EstimationTask> storage_tasks(const Series& series, const NetworkOptions& o, const Embedding& e,
                                          std::span<const std::int32_t> targets) {
  std::vector<EstimationTask> tasks;
  for (const std::int32_t t : targets) {
    tasks.push_back(storage_task(series, t, e));
    tasks.back().times = embeddable(series, {&t, 1}, Embedding{o.max_history, o.max_tau}.reach(1));
  }
  return tasks;
}

/// The mean of the estimate of storage where there is none.
double storage_bias(const Series& series, const EstimationTask& t, const EstimatorOptions& o) {
  switch (o.estimator) {
    case Estimator::ksg:
      return 0;
    case Estimator::gaussian:
      return gaussian_bias(t.x[0].size(), t.y.size(), t.times.size());
    default:
      return discrete_bias(series, t, o);
  }
}

std::vector<double> corrected_storage(const Series& series, const NetworkOptions& o,
                                      std::span<const EstimationTask> tasks, Stream& stream) {
  EstimatorOptions observed = o.estimator;
  observed.surrogates = 0;
  std::vector<double> scores;
  for (const Estimates& e : estimate(series, tasks, observed, stream))
    scores.push_back(e.observed(0) - storage_bias(series, tasks[scores.size()], observed));
  return scores;
}

/// Mean squared error of predicting the next value by the mean over the nearest neighbours' next values.
/// Source: Ragwitz, Kantz, Phys. Rev. E 65, 056201 (2002).
double prediction_error(const Series& series, const EstimatorOptions& o, const EstimationTask& task,
                        Stream& stream) {
  const auto rows = std::int64_t(task.times.size()), width = std::int64_t(task.y.size());
  const auto count = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  std::vector<double> states(count(rows * width)), next(count(rows)), distance(count(rows * o.neighbors));
  std::vector<std::int64_t> index(distance.size());
  const std::vector<std::int64_t> time = theiler_times(series, task.times, o);
  embed(series, task.y, task.times, states.data());
  embed(series, task.x[0], task.times, next.data());
  NearestNeighborsArgs args;
  args.x = tensor(states.data(), {rows, width});
  if (!time.empty()) args.time = tensor(time.data(), {rows});
  args.distance = tensor(distance.data(), {rows, o.neighbors});
  args.index = tensor(index.data(), {rows, o.neighbors});
  args.k = o.neighbors, args.theiler = o.theiler;
  call_on_host(nearest_neighbors, args, stream);
  double sum = 0;
  for (std::size_t i = 0; i < next.size(); ++i) {
    double predicted = 0;
    for (std::int64_t j = 0; j < o.neighbors; ++j)
      predicted += next[std::size_t(index[i * std::size_t(o.neighbors) + std::size_t(j)])];
    const double error = next[i] - predicted / double(o.neighbors);
    sum += error * error;
  }
  return sum / double(rows);
}

std::vector<double> scores_of(const Series& series, const NetworkOptions& o, const Embedding& e,
                              std::span<const std::int32_t> targets, Stream& stream) {
  const std::vector<EstimationTask> tasks = storage_tasks(series, o, e, targets);
  if (o.embedding == EmbeddingRule::ais) return corrected_storage(series, o, tasks, stream);
  std::vector<double> scores;
  for (const EstimationTask& t : tasks) {
    check_task(series, t, o.estimator);
    scores.push_back(-prediction_error(series, o.estimator, t, stream));
  }
  return scores;
}

}  // namespace

double embedding_work(const Series& series, const NetworkOptions& o) {
  const auto candidates = double(1 + (o.max_history - 1) * o.max_tau);
  return (o.embedding == EmbeddingRule::given ? 1 : 1 + candidates) * double(series.rows());
}

std::vector<TargetResult> choose_embeddings(const Series& series, const NetworkOptions& o,
                                            std::span<const std::int32_t> targets, Stream& stream) {
  std::vector<TargetResult> results;
  for (const std::int32_t t : targets) results.push_back({t, o.target, 0, 0});
  if (o.embedding != EmbeddingRule::given) {
    std::vector<double> best(targets.size(), -std::numeric_limits<double>::infinity());
    for (const Embedding& e : candidates(o)) {
      const std::vector<double> scores = scores_of(series, o, e, targets, stream);
      for (std::size_t i = 0; i < targets.size(); ++i)
        if (scores[i] > best[i]) best[i] = scores[i], results[i].embedding = e;
    }
  }
  for (TargetResult& r : results) {
    std::vector<std::int32_t> variables{r.target};
    for (const Coordinate& g : o.given) variables.push_back(g.variable);
    r.samples = std::int64_t(embeddable(series, variables, network_reach(o, r.embedding)).size());
  }
  return results;
}

void measure_storage(const Series& series, const NetworkOptions& o, std::span<TargetResult> targets,
                     Stream& stream) {
  EstimatorOptions observed = o.estimator;
  observed.surrogates = 0;
  std::map<std::int64_t, std::vector<TargetResult*>> of_history;  // can be estimated together
  for (TargetResult& r : targets) of_history[r.embedding.history].push_back(&r);
  for (const auto& [history, alike] : of_history) {
    std::vector<EstimationTask> tasks;
    for (const TargetResult* r : alike) tasks.push_back(storage_task(series, r->target, r->embedding));
    const std::vector<Estimates> storage = estimate(series, tasks, observed, stream);
    for (std::size_t i = 0; i < alike.size(); ++i) alike[i]->storage = storage[i].observed(0);
  }
}

}  // namespace kolmo
