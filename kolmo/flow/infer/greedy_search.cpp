#include "kolmo/flow/infer/greedy_search.hpp"

#include <algorithm>

#include "kolmo/flow/infer/selected_values.hpp"

namespace kolmo {
namespace {

/// The surrogates of a test are drawn in parts, each about half as many as all before it.
constexpr std::int64_t first_part = 25;

/// The values of a variable from lag `first` to `last`, `step` rows apart.
void add_values(Coordinates& to, std::int32_t variable, std::int64_t first, std::int64_t last,
                std::int64_t step) {
  for (std::int64_t lag = first; lag <= last; lag += step) to.push_back({variable, lag});
}

}  // namespace

GreedySearch::GreedySearch(const PreparedNetwork& network, std::int32_t target) : network_(network) {
  const auto& [series, o, shifts] = network;
  const GreedyMeasure measure = o.greedy.measure;
  times_ = tested_times(series, embeddable(series, greedy_reach(o)), o.estimator);
  found_.target = target, found_.samples = std::int64_t(times_.size());
  std::vector<std::int32_t> sources;
  for (const std::int32_t v : o.variables) {
    min_shift_ = std::max(min_shift_, shifts.of(v, target));
    if ((v == target) == (measure == GreedyMeasure::ais)) sources.push_back(v);
  }
  const auto key = [&series = series](std::int32_t v) { return series.keys[std::size_t(v)]; };
  std::stable_sort(sources.begin(), sources.end(),
                   [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
  if (o.method == NetworkMethod::bivariate)
    for (const std::int32_t s : sources) groups_.push_back({s});
  else
    groups_.push_back(sources);
  if (is_constant(series.values[std::size_t(target)])) {
    for (const std::vector<std::int32_t>& group : groups_) found_.sources.push_back({.offered = group});
    step_ = Step::end;
  } else if (measure == GreedyMeasure::te) {
    add_values(left_, target, 1, o.greedy.max_lag_target.value_or(o.max_lag), o.target.tau);
    begin(Step::own_past);
  } else {
    begin_group();
  }
}

std::int64_t GreedySearch::number() const { return network_.series.numbers[std::size_t(found_.target)]; }

std::int64_t GreedySearch::surrogates() const {
  const GreedyOptions& g = options().greedy;
  switch (step_) {
    case Step::own_past:
    case Step::sources:
      return *g.permutations_max_stat;
    case Step::pruning:
      return *g.permutations_min_stat;
    case Step::omnibus:
      return *g.permutations_omnibus;
    case Step::each:
    case Step::links:
      return *g.permutations_max_seq;
    default:
      return 0;
  }
}

double GreedySearch::alpha() const {
  const GreedyOptions& g = options().greedy;
  const std::optional<double>& own = includes()               ? g.alpha_max_stat
                                     : step_ == Step::pruning ? g.alpha_min_stat
                                     : step_ == Step::omnibus ? g.alpha_omnibus
                                                              : g.alpha_max_seq;
  return own.value_or(options().alpha);
}

std::optional<Round> GreedySearch::next() {
  if (step_ == Step::end) return {};
  const std::int64_t left = 1 + surrogates() - drawn_.draws;
  const std::int64_t part = drawn_.draws ? drawn_.draws / 2 + first_part : 1 + first_part;
  const bool whole = !includes() || idtxl();
  return Round{tasks(), {drawn_.draws, whole ? left : std::min(left, part)}};
}

void GreedySearch::take(std::span<const Estimates> estimates) { absorb(Drawn::of(estimates, includes())); }

std::int64_t GreedySearch::replay(const std::string& record) { return absorb(Drawn::from_record(record)); }

/// Returns how many estimates the part has.
std::int64_t GreedySearch::absorb(Drawn part) {
  record_ = part.record();
  const std::int64_t draws = part.draws;
  drawn_.append(std::move(part));
  const auto alternatives = std::int64_t(drawn_.observed.size());
  decide();
  return draws * alternatives;
}

void GreedySearch::begin(Step step) {
  step_ = step;
  drawn_ = {};
  if (step == Step::each) {  // what pruning drew
    drawn_ = std::move(each_);
    each_ = {};
    if (is_complete() && drawn_.draws) decide();
  }
}

void GreedySearch::begin_group() {
  const auto& [series, o, shifts] = network_;
  if (found_.sources.size() == groups_.size()) {
    if (o.greedy.measure == GreedyMeasure::te)
      begin(Step::storage);
    else
      step_ = Step::end;
    return;
  }
  found_.sources.push_back({.offered = groups_[found_.sources.size()]});
  left_.clear(), latest_.clear(), joint_.clear();
  const bool ais = o.greedy.measure == GreedyMeasure::ais;
  for (const std::int32_t s : group().offered)
    if (!is_constant(series.values[std::size_t(s)]))
      add_values(left_, s, ais ? 1 : o.min_lag, ais ? o.greedy.max_lag_target.value_or(o.max_lag) : o.max_lag,
                 ais ? o.target.tau : o.source.tau);
  group().full = std::int64_t(condition().size()) >= o.greedy.max_conditions;
  if (left_.empty() || group().full)
    end_group();
  else
    begin(Step::sources);
}

void GreedySearch::decide() {
  switch (step_) {
    case Step::own_past:
    case Step::sources:
      return decide_inclusion();
    case Step::pruning:
      return decide_pruning();
    case Step::omnibus:
      return decide_omnibus();
    case Step::each:
      return decide_each();
    case Step::links:
      return decide_links();
    default:
      found_.storage = drawn_.observed[0];
      step_ = Step::end;
  }
}

GreedySearch::Tested GreedySearch::test(double observed, std::span<const double> surrogates,
                                        double analytic_p) const {
  if (!drawn_.analytic.empty()) return {analytic_p, 0};
  double p = p_value(observed, surrogates, options().p_value);
  return {floored(p, std::int64_t(surrogates.size())), std::int64_t(surrogates.size())};
}

double GreedySearch::floored(double p, std::int64_t surrogates) const {
  return idtxl() && surrogates ? std::max(p, 1 / double(surrogates)) : p;
}

bool GreedySearch::accepts(double p) const { return is_significant(p, alpha(), options().p_value); }

void GreedySearch::remember(const Latest& now) {
  const Coordinate& value = now.value;
  const auto before =
      std::find_if(latest_.begin(), latest_.end(), [&](const Latest& l) { return same(l.value, value); });
  if (before == latest_.end())
    latest_.push_back(now);
  else
    *before = now;
}

void GreedySearch::include(const Chosen& chosen) {
  (step_ == Step::own_past ? found_.own_past : group().chosen).push_back(chosen);
  std::erase_if(left_, [&](const Coordinate& c) { return same(c, chosen.value); });
}

void GreedySearch::decide_inclusion() {
  const auto at = std::max_element(drawn_.observed.begin(), drawn_.observed.end());
  const double largest = *at;
  std::span<const double> surrogates = drawn_.surrogates[0];
  if (drawn_.analytic.empty()) {
    const auto total = std::size_t(is_complete() ? surrogates.size() : std::size_t(this->surrogates()));
    const std::size_t needed =
        idtxl() ? (is_complete() ? surrogates.size() : 0)
                : surrogates_needed(largest, surrogates, total, alpha(), options().p_value);
    if (needed == 0) return;  // more are to be drawn
    surrogates = surrogates.first(needed);
  }
  const Coordinate value = left_[std::size_t(at - drawn_.observed.begin())];
  const Tested tested = test(largest, surrogates, sidak(drawn_.analytic));
  const bool own = step_ == Step::own_past;
  if (!own) {
    const Summary summary = summarize(surrogates);
    for (std::size_t i = 0; i < left_.size(); ++i) {
      const double alone = drawn_.analytic.empty() ? 1 : drawn_.analytic[i];
      const std::vector<double> equal(drawn_.analytic.size(), alone);
      remember({left_[i], drawn_.observed[i], test(drawn_.observed[i], surrogates, sidak(equal)), summary});
    }
    if (group().chosen.empty()) group().first_p = tested.p, group().first_surrogates = tested.surrogates;
  }
  bool goes_on = accepts(tested.p);
  if (goes_on)
    include({value, largest, tested.p, tested.surrogates});
  else if (own && found_.own_past.empty())
    include({.value = {found_.target, 1}});
  const bool full = std::int64_t(condition().size()) >= options().greedy.max_conditions;
  if (goes_on && full && !left_.empty()) (own ? found_.full : group().full) = true;
  goes_on = goes_on && !full && !left_.empty();
  if (goes_on) return begin(step_);
  if (own) return begin_group();
  if (group().chosen.empty()) return end_group();
  test_chosen();
}

void GreedySearch::test_chosen() {
  begin(group().chosen.size() > 1 ? Step::pruning : one_is_all() ? Step::each : Step::omnibus);
}

bool GreedySearch::one_is_all() const {
  const GreedyOptions& g = options().greedy;
  return group().chosen.size() == 1 && g.permutations_omnibus == g.permutations_max_seq &&
         g.alpha_omnibus == g.alpha_max_seq;
}

void GreedySearch::remove(std::size_t which, SelectionTest by, double information, double p) {
  const Chosen& c = group().chosen[which];
  group().removed.push_back({c.value, by, information, p});
  group().chosen.erase(group().chosen.begin() + std::ptrdiff_t(which));
}

void GreedySearch::decide_pruning() {
  const auto at = std::min_element(drawn_.observed.begin(), drawn_.observed.end());
  const auto which = std::size_t(at - drawn_.observed.begin());
  const Tested tested =
      test(*at, smallest_of_draws(drawn_.surrogates), drawn_.analytic.empty() ? 1 : drawn_.analytic[which]);
  if (accepts(tested.p)) {
    each_ = std::move(drawn_);
    return begin(Step::omnibus);
  }
  remember({group().chosen[which].value, *at, tested, summarize(drawn_.surrogates[which])});
  remove(which, SelectionTest::min_stat, *at, tested.p);
  test_chosen();
}

void GreedySearch::decide_omnibus() {
  const Tested tested =
      test(drawn_.observed[0], drawn_.surrogates[0], drawn_.analytic.empty() ? 1 : drawn_.analytic[0]);
  group().joint = drawn_.observed[0], group().joint_p = tested.p;
  if (accepts(tested.p)) return begin(Step::each);
  while (!group().chosen.empty()) {
    const Coordinate value = group().chosen[0].value;
    const auto last =
        std::find_if(latest_.begin(), latest_.end(), [&](const Latest& l) { return same(l.value, value); });
    if (last->test.p < tested.p) last->test = tested;
    remove(0, SelectionTest::omnibus, group().joint, tested.p);
  }
  end_group();
}

void GreedySearch::decide_each() {
  std::vector<Chosen>& chosen = group().chosen;
  const auto count = std::size_t(surrogates());
  for (std::vector<double>& row : drawn_.surrogates) row.resize(std::min(row.size(), count));
  const std::vector<double> p = !drawn_.analytic.empty() ? step_down(drawn_.analytic)
                                : idtxl() ? by_rank(drawn_.observed, drawn_.surrogates, options().p_value)
                                          : step_down(drawn_.observed, drawn_.surrogates, options().p_value);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto drawn = drawn_.analytic.empty() ? std::int64_t(drawn_.surrogates[i].size()) : 0;
    const Tested tested{floored(p[i], drawn), drawn};
    if (one_is_all()) group().joint = drawn_.observed[0], group().joint_p = tested.p;
    chosen[i].given_all = drawn_.observed[i];
    chosen[i].p_given_all = tested.p, chosen[i].surrogates_given_all = tested.surrogates;
    remember({chosen[i].value, drawn_.observed[i], tested, summarize(drawn_.surrogates[i])});
  }
  const std::size_t before = chosen.size();
  for (std::size_t i = before; i-- > 0;)
    if (!accepts(chosen[i].p_given_all))
      remove(i, SelectionTest::max_seq, chosen[i].given_all, chosen[i].p_given_all);
  const std::vector<Coordinates> sources = by_variable(values_of(chosen));
  if (!chosen.empty() && (chosen.size() < before || sources.size() < chosen.size()))
    return begin(Step::links);
  end_group();
}

void GreedySearch::decide_links() {
  const std::vector<Coordinates> sources = by_variable(values_of(group().chosen));
  for (std::size_t i = 0; i < sources.size(); ++i)
    joint_.push_back({sources[i], Drawn{{drawn_.observed[i]}, {}, {drawn_.surrogates[i]}}});
  end_group();
}

void GreedySearch::end_group() {
  if (options().greedy.measure == GreedyMeasure::ais) {
    found_.own_past = std::move(group().chosen), group().chosen.clear();
    found_.storage = found_.own_past.empty() ? 0 : group().joint;
    found_.full = group().full;
  } else {
    for (const std::int32_t s : group().offered) links_.push_back(link_from(s));
  }
  begin_group();
}

}  // namespace kolmo
