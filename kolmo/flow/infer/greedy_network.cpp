#include "kolmo/flow/infer/greedy_network.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "kolmo/flow/infer/greedy_search.hpp"
#include "kolmo/flow/infer/scheduler.hpp"

namespace kolmo {
namespace {

/// Returns the factor by which p-values adjusted by Benjamini and Yekutieli exceed those adjusted by Benjamini and Hochberg.
double dependence(std::size_t tests) {
  double sum = 0;
  for (std::size_t i = 1; i <= tests; ++i) sum += 1 / double(i);
  return sum;
}

TargetResult as_target(const TargetSelection& found) {
  const auto own = std::int64_t(found.own_past.size());
  std::int64_t latest = 0;
  for (const Chosen& c : found.own_past) latest = std::max(latest, c.value.lag);
  return {found.target, {own, own ? latest : 0}, found.samples, found.storage};
}

}  // namespace

Network infer_greedily(const PreparedNetwork& prepared, const Streams& streams, FinishedWork* work,
                       Progress* progress) {
  const auto& [series, o, shifts] = prepared;
  std::vector<std::unique_ptr<GreedySearch>> searches;
  std::vector<TargetSearch*> all;
  for (const std::int32_t v : o.variables) {
    const std::vector<std::int32_t>& targets = o.chosen_targets();
    if (std::find(targets.begin(), targets.end(), v) == targets.end()) continue;
    searches.push_back(std::make_unique<GreedySearch>(prepared, v));
    all.push_back(searches.back().get());
  }
  run_searches(all, {series, o.estimator, streams, o.batches, work, progress});
  Network network;
  for (const auto& search : searches) {
    network.selections.push_back(search->selection());
    network.targets.push_back(as_target(search->selection()));
    for (const std::int32_t source : o.variables)
      for (const LinkResult& link : search->links())
        if (link.source == source) network.links.push_back(link);
  }
  adjust_selected(network, o);
  return network;
}

bool is_searched(const PreparedNetwork& prepared, std::int32_t target, const FinishedWork::Records& records) {
  GreedySearch search(prepared, target);
  replay(search, records);
  return !search.next();
}

double greedy_work(const Series& series, const NetworkOptions& o) {
  const GreedyOptions& g = o.greedy;
  const auto own = double(g.max_lag_target.value_or(o.max_lag));
  const double sources = double(o.variables.size() - 1) * double(o.lags());
  const double estimates = double(1 + *g.permutations_max_stat) * (2 * own + 3 * sources) +
                           double(1 + *g.permutations_max_seq) + double(*g.permutations_omnibus);
  return double(o.chosen_targets().size()) * double(series.rows()) * estimates;
}

void adjust_selected(Network& network, const NetworkOptions& o) {
  const bool idtxl = o.greedy.compatible == GreedyRules::idtxl;
  std::vector<double> p;
  for (const TargetSelection& t : network.selections)
    for (const SourceSelection& s : t.sources) p.push_back(idtxl ? s.joint_p : s.first_p);
  std::vector<double> adjusted = adjust(p, o.correction);
  if (idtxl && o.correction == Correction::bh)
    for (double& q : adjusted) q = std::min(1.0, q * dependence(p.size()));
  const auto found = double(std::count_if(adjusted.begin(), adjusted.end(),
                                          [&](double q) { return is_significant(q, o.alpha, o.p_value); }));
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> search_of;  // target, source
  for (std::size_t search = 0; const TargetSelection& t : network.selections)
    for (const SourceSelection& s : t.sources) {
      for (const std::int32_t source : s.offered) search_of[{t.target, source}] = search;
      ++search;
    }
  for (LinkResult& link : network.links) {
    const std::size_t search = search_of.at({link.target, link.source});
    const double share = o.correction == Correction::none         ? 1
                         : o.correction == Correction::bonferroni ? double(p.size())
                                                                  : double(p.size()) / std::max(found, 1.0);
    const double own = std::min(1.0, link.p_value * share);
    link.p_adjusted = idtxl ? (link.lags.empty() ? 1 : adjusted[search]) : std::max(adjusted[search], own);
    if (!idtxl && o.correction == Correction::none) link.p_adjusted = link.p_value;
    link.significant =
        !link.lags.empty() && link.value > 0 && is_significant(link.p_adjusted, o.alpha, o.p_value);
  }
}

}  // namespace kolmo
