#include "kolmo/flow/infer/prepare.hpp"

#include <algorithm>

#include "kolmo/flow/data/autocorrelation.hpp"
#include "kolmo/flow/estimate/discrete.hpp"
#include "kolmo/flow/infer/pairwise_search.hpp"

namespace kolmo {

Embedding longest_embedding(const NetworkOptions& o) {
  return o.embedding == EmbeddingRule::given ? o.target : Embedding{o.max_history, o.max_tau};
}

std::int64_t greedy_reach(const NetworkOptions& o) {
  const bool own = o.greedy.measure != GreedyMeasure::mi, other = o.greedy.measure != GreedyMeasure::ais;
  return std::max(
      {own ? o.greedy.max_lag_target.value_or(o.max_lag) : 0, other ? o.max_lag : 0, reach(o.given)});
}

std::int64_t network_reach(const NetworkOptions& o, const Embedding& target) {
  if (o.method != NetworkMethod::pairwise) return greedy_reach(o);
  return std::max({target.reach(1), o.source.reach(o.max_lag), reach(o.given)});
}

LinkShifts::LinkShifts(const Series& series, const NetworkOptions& o) {
  fixed_ = o.estimator.min_shift;
  if (!o.estimator.surrogates || o.estimator.surrogate_type != SurrogateMethod::circular || fixed_) return;
  reach_ = network_reach(o, longest_embedding(o));
  rows_ = std::int64_t(embeddable(series, reach_).size());
  for (std::size_t v = 0; v < series.values.size(); ++v)
    length_.push_back(autocorrelation(column_of(series, v)).length);
  std::int64_t given = 0;
  for (const Coordinate& g : o.given) given = std::max(given, length_[std::size_t(g.variable)]);
  for (std::int64_t& length : length_) length = std::max(length, given);
}

std::int64_t LinkShifts::of(std::int32_t source, std::int32_t target) const {
  if (length_.empty()) return fixed_;
  return settled_shift(rows_, std::max(length_[std::size_t(source)], length_[std::size_t(target)]), reach_);
}

namespace {

/// The task with the most dimensions that a greedy search may need.
EstimationTask widest_task(const Series& series, const NetworkOptions& o) {
  const std::int32_t v = o.variables[0];
  return {series.file + ": links to " + series.names[std::size_t(o.targets.empty() ? v : o.targets[0])],
          {{{v, 1}}},
          {{v, 0}},
          Coordinates(std::size_t(o.greedy.max_conditions), {v, 1}),
          embeddable(series, greedy_reach(o)),
          {0}};
}

void check_network(const Series& series, const NetworkOptions& o) {
  if (o.variables.size() < 2) fail<InvalidArgument>("network: needs two variables or more");
  for (const std::int32_t t : o.targets)
    if (std::find(o.variables.begin(), o.variables.end(), t) == o.variables.end())
      fail<InvalidArgument>("network: the target " + series.names[std::size_t(t)] +
                            " is not one of its variables");
  const bool greedy = o.method != NetworkMethod::pairwise;
  const std::int64_t least = greedy && o.greedy.measure == GreedyMeasure::mi ? 0 : 1;
  require(o.min_lag >= least && o.min_lag <= o.max_lag,
          "network: lags start at " + std::to_string(least) + " or above and end at or above that");
  require(!greedy || std::int64_t(o.given.size()) < o.greedy.max_conditions,
          "network: --given has " + std::to_string(o.given.size()) +
              " values, which leaves none of --max-conditions " + std::to_string(o.greedy.max_conditions));
  check_task(series,
             greedy
                 ? widest_task(series, o)
                 : link_task(series, o, {o.variables[1], longest_embedding(o), 0, 0}, {&o.variables[0], 1}),
             o.estimator);
  std::vector<std::int32_t> used = o.variables;
  for (const Coordinate& g : o.given) used.push_back(g.variable);
  check_states(series, used, o.estimator);
  require(o.estimator.estimator == Estimator::ksg || o.embedding != EmbeddingRule::ragwitz,
          "network: embedding ragwitz predicts by nearest neighbours, and is for the estimator ksg only");
}

}  // namespace

PreparedNetwork prepare_network(const Series& series, const NetworkOptions& options) {
  NetworkOptions o = options;
  if (o.estimator.surrogates && o.estimator.surrogate_type == SurrogateMethod::block)
    o.estimator = settled(o.estimator, series, network_reach(o, longest_embedding(o)));
  check_network(series, o);
  LinkShifts shifts(series, o);
  return {series, std::move(o), std::move(shifts)};
}

}  // namespace kolmo
