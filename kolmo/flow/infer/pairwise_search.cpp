#include "kolmo/flow/infer/pairwise_search.hpp"

#include <algorithm>
#include <cmath>

#include "kolmo/flow/data/variable_key.hpp"
#include "kolmo/flow/infer/network_record.hpp"
#include "kolmo/flow/test/max_statistic.hpp"

namespace kolmo {

double link_work(const Series& series, const NetworkOptions& o) {
  return double(series.rows()) * double(o.lags()) * double(o.rule().first().count);
}

Coordinates condition_of_link(const NetworkOptions& o, std::int32_t source, std::int32_t target) {
  Coordinates all = o.given;
  if (!o.conditional_all) return all;
  for (const std::int32_t v : o.variables)
    for (std::int64_t lag = o.min_lag; v != source && v != target && lag <= o.max_lag; ++lag)
      all.push_back({v, lag});
  return all;
}

EstimationTask link_task(const Series& series, const NetworkOptions& o, const TargetResult& target,
                         std::span<const std::int32_t> sources) {
  const auto name = [&](std::int32_t v) { return series.names[std::size_t(v)]; };
  const auto key = [&](std::int32_t v) { return series.keys[std::size_t(v)]; };
  EstimationTask t{series.file + (sources.size() == 1 ? ": " + name(sources[0]) + " -> " : ": links to ") +
                       name(target.target),
                   {},
                   {{target.target, 0}},
                   transfer_entropy_condition(target.target, target.embedding,
                                              condition_of_link(o, sources[0], target.target)),
                   {},
                   {}};
  for (const std::int32_t s : sources)
    for (std::int64_t lag = o.min_lag; lag <= o.max_lag; ++lag) {
      t.x.push_back(past(s, o.source, lag));
      t.streams.push_back(random_stream(key(target.target), key(s)));
    }
  t.times = tested_times(series, times_of(series, t, network_reach(o, target.embedding)), o.estimator);
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
    : network_(network), target_(target), round_(round), part_(network.options.rule().first()) {
  const NetworkOptions& o = network.options;
  const Series& series = network.series;
  const bool circular = o.estimator.surrogate_type == SurrogateMethod::circular;
  for (const std::int32_t s : o.variables)
    if (s != target.target) sources_.push_back(s);
  std::stable_sort(sources_.begin(), sources_.end(),
                   [&](std::int32_t a, std::int32_t b) { return absence(a) < absence(b); });
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const bool same = i > 0 && absence(sources_[i]) == absence(sources_[i - 1]);
    rows_.push_back(same ? rows_.back()
                         : std::int64_t(link_task(series, o, target, {&sources_[i], 1}).times.size()));
    part_links_.push_back(i);
    const std::int64_t most = o.estimator.surrogates;
    surrogates_.push_back(
        circular ? std::min(most, different_shifts(rows_[i], network.shifts.of(sources_[i], target.target)))
                 : most);
  }
  choose_round_size();
}

std::int32_t PairwiseSearch::absence(std::int32_t source) const {
  return network_.series.absence[std::size_t(source)];
}

void PairwiseSearch::choose_round_size() {
  const double work = double(network_.series.rows()) * double(estimates(part_links_.size()));
  const auto rounds = std::clamp<std::size_t>(std::size_t(std::ceil(work / round_)), 1, part_links_.size());
  each_ = (part_links_.size() + rounds - 1) / rounds;
}

std::int64_t PairwiseSearch::number() const { return network_.series.numbers[std::size_t(target_.target)]; }

std::span<const std::size_t> PairwiseSearch::round() const {
  const auto left = std::span(part_links_).subspan(taken_);
  std::size_t count = 0;
  while (count < std::min(each_, left.size()) && absence(sources_[left[count]]) == absence(sources_[left[0]]))
    ++count;
  return left.first(count);
}

std::int64_t PairwiseSearch::estimates(std::size_t links) const {
  return std::int64_t(links) * network_.options.lags() * part_.count;
}

std::optional<Round> PairwiseSearch::next() {
  if (waits()) return {};
  const NetworkOptions& o = network_.options;
  std::vector<std::int32_t> chosen;
  for (const std::size_t i : round()) chosen.push_back(sources_[i]);
  Round round{{}, part_};
  const std::size_t together = o.conditional_all ? 1 : chosen.size();
  for (std::size_t first = 0; first < chosen.size(); first += together) {
    const auto sources = std::span(chosen).subspan(first, together);
    EstimationTask task = link_task(network_.series, o, target_, sources);
    for (const std::int32_t s : sources)
      task.min_shifts.insert(task.min_shifts.end(), std::size_t(o.lags()),
                             network_.shifts.of(s, target_.target));
    round.tasks.push_back(std::move(task));
  }
  return round;
}

void PairwiseSearch::take(std::span<const Estimates> e) {
  const std::span<const std::size_t> chosen = round();
  const bool own = network_.options.conditional_all;  // each link has a task of its own
  for (std::size_t k = 0; k < chosen.size(); ++k) take(chosen[k], e[own ? k : 0], own ? 0 : k);
  last_ = chosen.size(), taken_ += last_;
}

/// Takes the link from sources_[i], which is link `which` of the estimates.
void PairwiseSearch::take(std::size_t i, const Estimates& e, std::size_t which) {
  const NetworkOptions& o = network_.options;
  const auto lags = std::size_t(o.lags());
  if (part_.observed()) {
    links_.push_back(link_of(o, sources_[i], target_.target, which, e));
    links_[i].min_shift = network_.shifts.of(sources_[i], target_.target), links_[i].samples = rows_[i];
    tests_.emplace_back(links_[i].value, o.rule());
  }
  tests_[i].take(largest_of_each(e, which * lags, lags), surrogates_[i]);
  if (o.rule().sequential()) show_test(i);
}

/// Writes what the test of a link found so far into the link.
void PairwiseSearch::show_test(std::size_t i) {
  links_[i].p_value = tests_[i].p_value(network_.options.p_value);
  links_[i].surrogates = tests_[i].describe(), links_[i].surrogate_count = tests_[i].state().surrogates;
}

std::int64_t PairwiseSearch::begin_part() {
  part_ = network_.options.rule().after(part_);
  part_links_.clear(), taken_ = 0;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < tests_.size(); ++i) {
    if (!tests_[i].open()) continue;
    part_links_.push_back(i);
    most = std::max(most, surrogates_[i]);
  }
  part_.count = std::min(part_.count, most + 1 - part_.first);
  if (part_links_.empty()) return 0;
  choose_round_size();
  return estimates(part_links_.size());
}

std::string PairwiseSearch::record() const {
  const bool sequential = network_.options.rule().sequential();
  const auto begin = std::size_t(std::max<std::int64_t>(0, part_.first - 1));
  std::vector<LinkResult> links;
  std::vector<TestRecord> tests;
  for (const std::size_t i : std::span(part_links_).subspan(taken_ - last_, last_)) {
    links.push_back(links_[i]);
    const std::span<const double> kept = tests_[i].open() ? tests_[i].kept(begin) : std::span<const double>();
    tests.push_back({tests_[i].state(), {kept.begin(), kept.end()}});
  }
  return to_record(links) + (sequential ? '\n' + to_record(tests) : "");
}

std::int64_t PairwiseSearch::replay(const std::string& record) {
  const NetworkOptions& o = network_.options;
  const std::span<const std::size_t> chosen = round();
  std::vector<std::int32_t> sources;
  for (const std::size_t i : chosen) sources.push_back(sources_[i]);
  const std::size_t line = std::min(record.find('\n'), record.size());
  std::vector<LinkResult> links = links_from_record(sources, target_.target, record.substr(0, line));
  std::vector<TestRecord> tests(chosen.size());
  if (o.rule().sequential()) tests = tests_from_record(chosen.size(), record.substr(line));
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const std::size_t i = chosen[k];
    if (part_.observed()) tests_.emplace_back(links[k].value, o.rule()), links_.emplace_back();
    links[k].min_shift = network_.shifts.of(sources_[i], target_.target), links[k].samples = rows_[i];
    links_[i] = std::move(links[k]);
    tests_[i].resume(tests[k].state, tests[k].kept);
  }
  last_ = chosen.size(), taken_ += last_;
  return estimates(last_);
}

}  // namespace kolmo
