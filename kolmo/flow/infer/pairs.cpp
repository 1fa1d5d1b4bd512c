#include "kolmo/flow/infer/pairs.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "kolmo/flow/data/autocorrelation.hpp"
#include "kolmo/flow/data/variable_key.hpp"
#include "kolmo/flow/estimate/discrete.hpp"
#include "kolmo/flow/estimate/neighbors.hpp"
#include "kolmo/flow/infer/pairwise_search.hpp"
#include "kolmo/flow/infer/scheduler.hpp"

namespace kolmo {
namespace {

std::int32_t absence(const Series& series, std::int32_t v) { return series.absence[std::size_t(v)]; }

/// Estimates the pairs of a variable with those before it, in rounds of variables that lack values in the same rows.
class PairSearch final : public TargetSearch {
 public:
  PairSearch(const PreparedPairs& prepared, std::size_t y)
      : prepared_(prepared),
        y_(prepared.ordered[y]),
        x_(prepared.ordered.begin(), prepared.ordered.begin() + std::ptrdiff_t(y)) {
    std::stable_sort(x_.begin(), x_.end(), [&](std::int32_t a, std::int32_t b) {
      return absence(prepared_.series, a) < absence(prepared_.series, b);
    });
  }

  std::int64_t number() const override { return prepared_.series.numbers[std::size_t(y_)]; }

  std::optional<Round> next() override {
    const auto left = std::span(x_).subspan(results_.size());
    if (left.empty()) return {};
    const Series& series = prepared_.series;
    const EstimatorOptions& e = prepared_.options.estimator;
    const double work = double(series.rows()) * double(e.draws().count);
    const auto most = std::size_t(std::clamp(PairwiseSearch::usual_round / work, 1.0, double(left.size())));
    std::size_t count = 1;
    while (count < most && absence(series, left[count]) == absence(series, left[0])) ++count;
    Round round{{pair_task(prepared_, left.first(count), y_)}, e.draws()};
    shifts_ = round.tasks[0].min_shifts, samples_ = std::int64_t(round.tasks[0].times.size());
    return round;
  }

  void take(std::span<const Estimates> estimates) override {
    const Estimates& e = estimates[0];
    for (std::size_t i = 0; i < e.different.size(); ++i) {
      const auto surrogates = e.surrogate(i);
      PairResult r{x_[results_.size()], y_, samples_, e.observed(i)};
      r.p_value =
          e.p_values.empty() ? p_value(r.value, surrogates, prepared_.options.p_value) : e.p_values[i];
      r.surrogates = summarize(surrogates), r.surrogate_count = std::int64_t(surrogates.size());
      if (!shifts_.empty()) r.min_shift = shifts_[i];
      results_.push_back(r);
    }
  }

  // Nothing is kept of pairs for a later run.
  std::string record() const override { return ""; }
  std::int64_t replay(const std::string&) override { fail<InvalidArgument>("pairs: have no records"); }

  const std::vector<PairResult>& results() const { return results_; }

 private:
  const PreparedPairs& prepared_;
  std::int32_t y_;
  std::vector<std::int32_t> x_;
  std::vector<std::int64_t> shifts_;  // of the round
  std::int64_t samples_ = 0;
  std::vector<PairResult> results_;
};

/// Calls visit(task, variables) for a pair of each set of rows.
template <class F>
void visit_pairs(const PreparedPairs& p, const F& visit) {
  std::set<std::pair<std::int32_t, std::int32_t>> visited;
  for (std::size_t j = 1; j < p.ordered.size(); ++j)
    for (std::size_t i = 0; i < j; ++i) {
      const std::int32_t both[] = {p.ordered[i], p.ordered[j]};
      if (visited.insert(std::minmax(absence(p.series, both[0]), absence(p.series, both[1]))).second)
        visit(pair_task(p, {both, 1}, both[1]), std::span(both));
    }
}

void check_variables(const Series& series, const PairsOptions& o) {
  if (o.variables.size() < 2)
    fail<InvalidArgument>(
        series.file + ": --all-pairs: needs two columns or more" +
        (o.variables.empty() ? std::string()
                             : ", and '" + series.names[std::size_t(o.variables[0])] + "' is the only one") +
        "; --columns, --exclude and --given choose them");
  for (const std::int32_t v : o.variables)
    if (is_constant(series.values[std::size_t(v)]))
      fail<InvalidArgument>(series.file + ": --all-pairs: '" + series.names[std::size_t(v)] +
                            "' is the same in every row, so that it shares no information with others; "
                            "--exclude leaves it out");
}

}  // namespace

EstimationTask pair_task(const PreparedPairs& prepared, std::span<const std::int32_t> x, std::int32_t y) {
  const auto& [series, o, ordered, length] = prepared;
  const std::vector<std::uint64_t>& keys = series.keys;
  const auto name = [&s = series](std::int32_t v) { return s.names[std::size_t(v)]; };
  EstimationTask t{series.file + (x.size() == 1 ? ": " + name(x[0]) + " and " : ": pairs with ") + name(y),
                   {},
                   {{y, 0}},
                   o.given,
                   {},
                   {}};
  for (const std::int32_t v : x) {
    t.x.push_back({{v, 0}});
    t.streams.push_back(random_stream(keys[std::size_t(y)], keys[std::size_t(v)]));
  }
  t.times = tested_times(series, times_of(series, t), o.estimator);
  if (length.empty()) return t;
  std::int64_t longest = length[std::size_t(y)];
  for (const Coordinate& g : o.given) longest = std::max(longest, length[std::size_t(g.variable)]);
  for (const std::int32_t v : x)
    t.min_shifts.push_back(
        settled_shift(std::int64_t(t.times.size()), std::max(longest, length[std::size_t(v)]), 0));
  return t;
}

PreparedPairs prepare_pairs(const Series& series, const PairsOptions& options) {
  PreparedPairs p{series, options, options.variables, {}};
  EstimatorOptions& e = p.options.estimator;
  check_variables(series, options);
  std::stable_sort(p.ordered.begin(), p.ordered.end(), [&](std::int32_t a, std::int32_t b) {
    return series.keys[std::size_t(a)] < series.keys[std::size_t(b)];
  });
  std::int64_t least = series.rows();
  visit_pairs(p, [&](const EstimationTask& task, std::span<const std::int32_t>) {
    least = std::min(least, std::int64_t(task.times.size()));
  });
  e = with_neighbors(e, least, 2 + std::int64_t(options.given.size()));
  if (e.surrogates && e.surrogate_type == SurrogateMethod::block) e = settled(e, series, 0);
  visit_pairs(p, [&](const EstimationTask& task, std::span<const std::int32_t> variables) {
    check_rows(series, task, variables, e);
  });
  std::vector<std::int32_t> used = options.variables;
  for (const Coordinate& g : options.given) used.push_back(g.variable);
  check_states(series, used, e);
  if (e.surrogates && e.surrogate_type == SurrogateMethod::circular && !e.min_shift)
    for (std::size_t v = 0; v < series.values.size(); ++v)
      p.length.push_back(autocorrelation(column_of(series, v)).length);
  return p;
}

std::vector<PairResult> estimate_pairs(const PreparedPairs& p, const Streams& streams, Progress* progress) {
  std::vector<std::unique_ptr<PairSearch>> searches;
  std::vector<TargetSearch*> all;
  for (std::size_t y = 1; y < p.ordered.size(); ++y) {
    searches.push_back(std::make_unique<PairSearch>(p, y));
    all.push_back(searches.back().get());
  }
  run_searches(all, {p.series, p.options.estimator, streams, {}, nullptr, progress});
  const std::vector<std::int32_t>& variables = p.options.variables;
  std::vector<std::size_t> place(p.series.values.size());
  for (std::size_t i = 0; i < variables.size(); ++i) place[std::size_t(variables[i])] = i;
  const auto at = [&](const PairResult& r) {
    return std::pair(place[std::size_t(r.x)], place[std::size_t(r.y)]);
  };
  std::vector<PairResult> pairs;
  for (const auto& search : searches)
    for (PairResult r : search->results()) {
      if (at(r).first > at(r).second) std::swap(r.x, r.y);
      pairs.push_back(r);
    }
  std::sort(pairs.begin(), pairs.end(),
            [&](const PairResult& a, const PairResult& b) { return at(a) < at(b); });
  std::vector<double> tested(pairs.size());
  std::transform(pairs.begin(), pairs.end(), tested.begin(), [](const PairResult& r) { return r.p_value; });
  const std::vector<double> adjusted = adjust(tested, p.options.correction);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    pairs[i].p_adjusted = std::isnan(tested[i]) ? tested[i] : adjusted[i];
  return pairs;
}

double pairs_work(const PreparedPairs& p) {
  const auto n = double(p.ordered.size());
  return n * (n - 1) / 2 * double(p.series.rows()) * double(p.options.estimator.draws().count);
}

}  // namespace kolmo
