#include "kolmo/flow/infer/prepare.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "kolmo/flow/data/autocorrelation.hpp"
#include "kolmo/flow/estimate/discrete.hpp"
#include "kolmo/flow/estimate/neighbors.hpp"
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

LinkShifts::LinkShifts(const Series& series, const NetworkOptions& o) : series_(&series) {
  fixed_ = o.estimator.min_shift;
  if (!o.estimator.surrogates || o.estimator.surrogate_type != SurrogateMethod::circular || fixed_) return;
  reach_ = network_reach(o, longest_embedding(o));
  rows_ = std::int64_t(embeddable(series, std::span<const std::int32_t>(), reach_).size());
  for (std::size_t v = 0; v < series.values.size(); ++v)
    length_.push_back(autocorrelation(column_of(series, v)).length);
  std::int64_t given = 0;
  if (o.conditional_all) given_ = o.variables;
  for (const Coordinate& g : o.given) given_.push_back(g.variable);
  for (const std::int32_t v : given_) given = std::max(given, length_[std::size_t(v)]);
  for (std::int64_t& length : length_) length = std::max(length, given);
}

std::int64_t LinkShifts::rows(std::int32_t source, std::int32_t target) const {
  std::vector<std::int32_t> variables = given_;
  variables.push_back(source), variables.push_back(target);
  const bool complete = std::all_of(variables.begin(), variables.end(),
                                    [&](std::int32_t v) { return series_->absence[std::size_t(v)] == 0; });
  return complete ? rows_ : std::int64_t(embeddable(*series_, variables, reach_).size());
}

std::int64_t LinkShifts::of(std::int32_t source, std::int32_t target) const {
  if (length_.empty()) return fixed_;
  return settled_shift(rows(source, target),
                       std::max(length_[std::size_t(source)], length_[std::size_t(target)]), reach_);
}

void check_rows(const Series& series, const EstimationTask& task, std::span<const std::int32_t> variables,
                const EstimatorOptions& options) {
  const auto values = [&](std::int32_t v) {
    const auto& x = series.values[std::size_t(v)];
    return std::count_if(x.begin(), x.end(), [](double y) { return !std::isnan(y); });
  };
  try {
    check_task(series, task, options);
  } catch (const InvalidArgument& e) {
    const std::int32_t sparse =
        *std::min_element(variables.begin(), variables.end(),
                          [&](std::int32_t a, std::int32_t b) { return values(a) < values(b); });
    if (!series.absence[std::size_t(sparse)]) throw;
    fail<InvalidArgument>(std::string(e.what()) + "; '" + series.names[std::size_t(sparse)] +
                          "' has a value in " + std::to_string(values(sparse)) + " of " +
                          std::to_string(series.rows()) + " rows, and --exclude leaves it out");
  }
}

namespace {

/// The task with the most dimensions that a greedy search may need.
EstimationTask widest_task(const Series& series, const NetworkOptions& o) {
  const std::int32_t v = o.variables[0];
  return {series.file + ": links to " + series.names[std::size_t(o.targets.empty() ? v : o.targets[0])],
          {{{v, 1}}},
          {{v, 0}},
          Coordinates(std::size_t(o.greedy.max_conditions), {v, 1}),
          tested_times(series, embeddable(series, greedy_reach(o)), o.estimator),
          {0}};
}

/// Calls visit(task, variables) for a link of each set of rows, as each link uses those of its own variables.
template <class F>
void visit_links(const Series& series, const NetworkOptions& o, const F& visit) {
  std::set<std::pair<std::int32_t, std::int32_t>> visited;  // what source and target lack
  for (const std::int32_t target : o.chosen_targets())
    for (const std::int32_t source : o.variables) {
      const auto absence = [&](std::int32_t v) { return series.absence[std::size_t(v)]; };
      if (source == target || !visited.emplace(absence(source), absence(target)).second) continue;
      const std::int32_t both[] = {source, target};
      visit(link_task(series, o, {target, longest_embedding(o), 0, 0}, {&source, 1}), std::span(both));
    }
}

/// Throws InvalidArgument if the condition of a link has more values than an estimate can have.
void check_conditional_all(const NetworkOptions& o) {
  const auto others = std::int64_t(o.variables.size()) - 2;
  const std::int64_t own = longest_embedding(o).history, given = std::int64_t(o.given.size());
  const std::int64_t all = own + given + others * o.lags();
  if (all <= most_conditions) return;
  fail<InvalidArgument>(
      "network: --conditional-all: the target's past has up to " + std::to_string(own) + " values, " +
      std::to_string(others) + " other variables at " + std::to_string(o.lags()) + " lags have " +
      std::to_string(others * o.lags()) + (given ? " and --given has " + std::to_string(given) : "") +
      ", which makes a condition of " + std::to_string(all) + " where " + std::to_string(most_conditions) +
      " is the most; --max-lag, --max-history or --history, and --columns lower it, and --method "
      "multivariate chooses what matters");
}

void check_network(const Series& series, const NetworkOptions& o) {
  const bool greedy = o.method != NetworkMethod::pairwise;
  if (o.variables.size() < (greedy && o.greedy.measure == GreedyMeasure::ais ? 1 : 2))
    fail<InvalidArgument>(
        "network: needs two variables or more; only --method multivariate --measure ais, of own pasts, takes "
        "one");
  for (const std::int32_t t : o.targets)
    if (std::find(o.variables.begin(), o.variables.end(), t) == o.variables.end())
      fail<InvalidArgument>("network: the target " + series.names[std::size_t(t)] +
                            " is not one of its variables");
  const std::int64_t least = greedy && o.greedy.measure == GreedyMeasure::mi ? 0 : 1;
  require(o.min_lag >= least && o.min_lag <= o.max_lag,
          "network: lags start at " + std::to_string(least) + " or above and end at or above that");
  require(!greedy || std::int64_t(o.given.size()) < o.greedy.max_conditions,
          "network: --given has " + std::to_string(o.given.size()) +
              " values, which leaves none of --max-conditions " + std::to_string(o.greedy.max_conditions));
  if (o.conditional_all) check_conditional_all(o);
  if (greedy)
    check_rows(series, widest_task(series, o), o.variables, o.estimator);
  else
    visit_links(series, o, [&](const EstimationTask& task, std::span<const std::int32_t> variables) {
      check_rows(series, task, variables, o.estimator);
    });
  std::vector<std::int32_t> used = o.variables;
  for (const Coordinate& g : o.given) used.push_back(g.variable);
  check_states(series, used, o.estimator);
  require(o.estimator.estimator == Estimator::ksg || o.embedding != EmbeddingRule::ragwitz,
          "network: embedding ragwitz predicts by nearest neighbours, and is for the estimator ksg only");
}

/// The fewest samples that an estimate of a link or candidate has.
std::int64_t least_samples(const Series& series, const NetworkOptions& o) {
  if (o.method != NetworkMethod::pairwise)
    return std::int64_t(tested_times(series, embeddable(series, greedy_reach(o)), o.estimator).size());
  std::int64_t least = series.rows();
  visit_links(series, o, [&](const EstimationTask& task, std::span<const std::int32_t>) {
    least = std::min(least, std::int64_t(task.times.size()));
  });
  return least;
}

/// The columns of the smallest estimate of a link or candidate: its own, the target, and the least condition.
std::int64_t least_columns(const NetworkOptions& o) {
  const auto given = std::int64_t(o.given.size());
  if (o.method != NetworkMethod::pairwise) return given + (o.greedy.measure == GreedyMeasure::te ? 3 : 2);
  const auto others = o.conditional_all ? (std::int64_t(o.variables.size()) - 2) * o.lags() : 0;
  return 1 + o.source.history + (o.embedding == EmbeddingRule::given ? o.target.history : 1) + others + given;
}

}  // namespace

PreparedNetwork prepare_network(const Series& series, const NetworkOptions& options) {
  NetworkOptions o = options;
  if (!o.estimator.neighbors)
    o.estimator = with_neighbors(o.estimator, least_samples(series, o), least_columns(o));
  if (o.estimator.surrogates && o.estimator.surrogate_type == SurrogateMethod::block)
    o.estimator = settled(o.estimator, series, network_reach(o, longest_embedding(o)));
  if (o.method != NetworkMethod::pairwise && o.estimator.estimator == Estimator::gaussian) {
    constexpr std::int64_t beside = 4;  // a value that is tested, the target, and what is left to the tests
    o.greedy.max_conditions =
        std::clamp<std::int64_t>(least_samples(series, o) - beside, 1, o.greedy.max_conditions);
  }
  check_network(series, o);
  LinkShifts shifts(series, o);
  return {series, std::move(o), std::move(shifts)};
}

}  // namespace kolmo
