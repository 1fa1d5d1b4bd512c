#pragma once
#include <algorithm>
#include <cmath>
#include <optional>

#include "kolmo/flow/estimate/estimate.hpp"
#include "kolmo/flow/estimate/progress.hpp"
#include "kolmo/knn/surrogate.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

namespace kolmo {

/// Estimates tasks on the CPU by a model of each task. A Model has
///   Model(series, task, options)
///   prepare(alternative)                  called once for each, before value(); different ones at the same time
///   value(alternative, map, scratch)      the estimate for the rows of x in the order of a SurrogateMap
///   Scratch                               memory that a thread reuses
///   p_value(alternative)                  optional: the test without surrogates
/// Surrogates are those of the KSG estimator for the same seed and streams. The result does not depend on the
/// number of threads.
template <class Model>
std::vector<Estimates> estimate_rows(const Series& series, std::span<const EstimationTask> tasks,
                                     const EstimatorOptions& options, SurrogateRange draws,
                                     const Stream& stream, Progress* progress) {
  const EstimatorOptions o = settled(options, series, tasks);
  struct Unit {
    std::size_t task, alternative;
  };
  std::vector<std::optional<Model>> models(tasks.size());
  std::vector<Estimates> results(tasks.size());
  std::vector<SurrogateOptions> how(tasks.size());
  std::vector<Unit> units;
  const auto width = std::size_t(draws.count);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    check_task(series, tasks[i], o);
    results[i].draws = draws, results[i].different = computed_surrogates(tasks[i], o, draws);
    if (o.surrogates) how[i] = surrogate_options(series, tasks[i], o);
    results[i].values.resize(tasks[i].x.size() * width);
    if (o.tested_analytically()) results[i].p_values.resize(tasks[i].x.size());
    for (std::size_t a = 0; a < tasks[i].x.size(); ++a) units.push_back({i, a});
  }
  const int threads = std::max(1, stream.threads());
  const auto each = [&](std::size_t n, auto&& work) {
    parallel_for(threads, std::int64_t(n), [&](std::int64_t i, int thread) { work(std::size_t(i), thread); });
  };
  each(tasks.size(), [&](std::size_t i, int) { models[i].emplace(series, tasks[i], o); });
  each(units.size(), [&](std::size_t u, int) { models[units[u].task]->prepare(units[u].alternative); });
  std::vector<typename Model::Scratch> scratch(std::size_t{unsigned(threads)});
  const auto one = [&](std::size_t item, int thread) {
    const std::size_t i = units[item / width].task, a = units[item / width].alternative, draw = item % width;
    const auto rows = std::int64_t(tasks[i].times.size());
    SurrogateOptions options = how[i];
    options.min_shift = tasks[i].min_shift(a, o);
    const SurrogateMap map(options, rows, std::uint64_t(tasks[i].streams[a]),
                           std::uint64_t(draws.first) + draw);
    results[i].values[a * width + draw] = models[i]->value(a, map, scratch[std::size_t(thread)]);
    if constexpr (requires { &Model::p_value; })
      if (o.tested_analytically()) results[i].p_values[a] = models[i]->p_value(a);
  };
  const std::size_t all = units.size() * width,
                    part = progress ? std::size_t(64) * std::size_t{unsigned(threads)} : all;
  for (std::size_t first = 0, count; first < all; first += count) {
    count = std::min(part, all - first);
    each(count, [&](std::size_t i, int thread) { one(first + i, thread); });
    if (progress) progress->advance(double(count));
  }
  return results;
}

}  // namespace kolmo
