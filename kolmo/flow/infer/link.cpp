#include <algorithm>
#include <limits>

#include "kolmo/flow/data/autocorrelation.hpp"
#include "kolmo/flow/data/variable_key.hpp"
#include "kolmo/flow/estimate/analytic_test.hpp"
#include "kolmo/flow/infer/network.hpp"

namespace kolmo {

Embedding longest_embedding(const NetworkOptions& o) {
  return o.embedding == EmbeddingRule::given ? o.target : Embedding{o.max_history, o.max_tau};
}

std::int64_t network_reach(const NetworkOptions& o, const Embedding& target) {
  return std::max({target.reach(1), o.source.reach(o.max_lag), reach(o.given)});
}

NetworkOptions settled(NetworkOptions o, const Series& series) {
  if (o.estimator.surrogate_type == SurrogateMethod::block)
    o.estimator = settled(o.estimator, series, network_reach(o, longest_embedding(o)));
  return o;
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
  LinkResult link;
  const auto lags = std::size_t(o.lags());
  link.source = source, link.target = target, link.surrogate_count = e.different[which * lags];
  std::vector<double> largest(std::size_t(link.surrogate_count), -std::numeric_limits<double>::infinity());
  for (std::size_t lag = 0; lag < lags; ++lag) {
    const std::size_t alternative = which * lags + lag;
    link.profile.push_back(e.observed(alternative));
    const auto surrogate = e.surrogate(alternative);
    for (std::size_t s = 0; s < largest.size(); ++s) largest[s] = std::max(largest[s], surrogate[s]);
  }
  const auto best = std::max_element(link.profile.begin(), link.profile.end());
  link.value = *best;
  link.lag = o.min_lag + (best - link.profile.begin());
  link.p_value = p_value(link.value, largest, o.p_value);
  if (!e.p_values.empty()) link.p_value = sidak(std::span(e.p_values).subspan(which * lags, lags));
  link.surrogates = summarize(largest);
  return link;
}

}  // namespace kolmo
