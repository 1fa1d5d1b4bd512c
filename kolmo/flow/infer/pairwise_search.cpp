#include "kolmo/flow/infer/pairwise_search.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/flow/data/variable_key.hpp"
#include "kolmo/flow/infer/network_record.hpp"
#include "kolmo/flow/test/max_statistic.hpp"

namespace kolmo {

double link_work(const Series& series, const NetworkOptions& o) {
  return double(series.rows()) * double(o.lags()) * double(o.estimator.draws().count);
}

EstimationTask link_task(const Series& series, const NetworkOptions& o, const TargetResult& target,
                         std::span<const std::int32_t> sources) {
  const auto name = [&](std::int32_t v) { return series.names[std::size_t(v)]; };
  const auto key = [&](std::int32_t v) { return series.keys[std::size_t(v)]; };
  EstimationTask t{series.file + (sources.size() == 1 ? ": " + name(sources[0]) + " -> " : ": links to ") +
                       name(target.target),
                   {},
                   {{target.target, 0}},
                   transfer_entropy_condition(target.target, target.embedding, o.given),
                   embeddable(series, network_reach(o, target.embedding)),
                   {}};
  for (const std::int32_t s : sources)
    for (std::int64_t lag = o.min_lag; lag <= o.max_lag; ++lag) {
      t.x.push_back(past(s, o.source, lag));
      t.streams.push_back(random_stream(key(target.target), key(s)));
    }
  return t;
}

LinkResult link_of(const NetworkOptions& o, std::int32_t source, std::int32_t target, std::size_t which,
                   const Estimates& e) {
  const auto lags = std::size_t(o.lags());
  const MaxStatistic m = max_statistic(e, which * lags, lags, o.p_value);
  LinkResult link;
  link.source = source, link.target = target;
  link.value = m.value(), link.lag = o.min_lag + std::int64_t(m.largest);
  link.profile = m.observed, link.p_value = m.p_value;
  link.surrogates = m.surrogates, link.surrogate_count = m.surrogate_count;
  return link;
}

PairwiseSearch::PairwiseSearch(const PreparedNetwork& network, const TargetResult& target, double round)
    : network_(network), target_(target) {
  for (const std::int32_t s : network.options.variables)
    if (s != target.target) sources_.push_back(s);
  const double work = link_work(network.series, network.options) * double(sources_.size());
  const auto rounds = std::min<std::size_t>(std::size_t(std::ceil(work / round)), sources_.size());
  each_ = (sources_.size() + rounds - 1) / rounds;
}

std::int64_t PairwiseSearch::number() const { return network_.series.numbers[std::size_t(target_.target)]; }

std::span<const std::int32_t> PairwiseSearch::sources() const {
  const auto left = std::span(sources_).subspan(links_.size());
  return left.first(std::min(each_, left.size()));
}

std::int64_t PairwiseSearch::estimates(std::size_t sources) const {
  const NetworkOptions& o = network_.options;
  return std::int64_t(sources) * o.lags() * o.estimator.draws().count;
}

std::optional<Round> PairwiseSearch::next() {
  const std::span<const std::int32_t> chosen = sources();
  if (chosen.empty()) return {};
  const NetworkOptions& o = network_.options;
  EstimationTask task = link_task(network_.series, o, target_, chosen);
  for (const std::int32_t s : chosen)
    task.min_shifts.insert(task.min_shifts.end(), std::size_t(o.lags()),
                           network_.shifts.of(s, target_.target));
  return Round{{std::move(task)}, o.estimator.draws()};
}

void PairwiseSearch::take(std::span<const Estimates> e) {
  const std::span<const std::int32_t> chosen = sources();
  for (std::size_t s = 0; s < chosen.size(); ++s) {
    links_.push_back(link_of(network_.options, chosen[s], target_.target, s, e[0]));
    links_.back().min_shift = network_.shifts.of(chosen[s], target_.target);
  }
  last_ = chosen.size();
}

std::string PairwiseSearch::record() const { return to_record(std::span(links_).last(last_)); }

std::int64_t PairwiseSearch::replay(const std::string& record) {
  const std::span<const std::int32_t> chosen = sources();
  std::vector<LinkResult> links = links_from_record(chosen, target_.target, record);
  for (LinkResult& link : links) {
    link.min_shift = network_.shifts.of(link.source, link.target);
    links_.push_back(std::move(link));
  }
  last_ = chosen.size();
  return estimates(chosen.size());
}

}  // namespace kolmo
