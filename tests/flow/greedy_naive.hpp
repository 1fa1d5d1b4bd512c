#pragma once
#include <algorithm>
#include <set>

#include "kolmo/flow/data/variable_key.hpp"
#include "kolmo/flow/infer/greedy_search.hpp"

// A naive greedy search, written from the published algorithm: one estimate of one value at a time, all surrogates, nothing
// shared between tests. It takes the random streams of the product's search, so that surrogates are the same.
namespace kolmo::testing_flow {

class NaiveSearch {
 public:
  using Value = std::pair<std::int32_t, std::int64_t>;  // variable, lag
  std::vector<Value> own_past, sources;
  double joint = 0, joint_p = 1;
  std::vector<double> p_given_all;

  NaiveSearch(const PreparedNetwork& network, std::int32_t target) : n_(network), target_(target) {
    std::vector<std::pair<std::uint64_t, std::int32_t>> by_key;
    for (const std::int32_t v : n_.options.variables) by_key.push_back({key(v), v});
    std::sort(by_key.begin(), by_key.end());
    std::vector<Value> own, others;
    const std::int64_t last = n_.options.max_lag;
    for (std::int64_t lag = 1; lag <= last; ++lag) own.push_back({target, lag});
    for (const auto& [k, v] : by_key)
      for (std::int64_t lag = 1; v != target && lag <= last; ++lag) others.push_back({v, lag});
    while (!own.empty() && include(own, own_past, GreedySearch::Step::own_past)) {}
    if (own_past.empty()) own_past.push_back({target, 1});
    while (!others.empty() && include(others, sources, GreedySearch::Step::sources)) {}
    while (sources.size() > 1 && prune()) {}
    if (!sources.empty()) test_all();
    if (!sources.empty()) test_each();
  }

 private:
  std::uint64_t key(std::int32_t v) const { return n_.series.keys[std::size_t(v)]; }
  bool significant(double p) const { return p <= n_.options.alpha; }

  /// The observed value and surrogates of I(x; y | z), with z all that was chosen but x.
  std::vector<double> information(const std::vector<Value>& x, GreedySearch::Step step) const {
    EstimationTask t{"naive", {{}}, {{target_, 0}}, {}, {}, {}};
    for (const auto& [v, lag] : x) t.x[0].push_back({v, lag});
    for (const auto* chosen : {&own_past, &sources})
      for (const Value& c : *chosen)
        if (std::find(x.begin(), x.end(), c) == x.end()) t.z.push_back({c.first, c.second});
    for (std::int64_t time = n_.options.max_lag; time < n_.series.rows(); ++time) t.times.push_back(time);
    const std::size_t conditions = own_past.size() + sources.size();
    t.streams = {random_stream(key(target_), GreedySearch::numbers_of_test(step, conditions))};
    std::int64_t shift = 0;
    for (const std::int32_t v : n_.options.variables) shift = std::max(shift, n_.shifts.of(v, target_));
    t.min_shifts = {shift};
    Stream stream;
    const Estimates e = estimate(n_.series, {&t, 1}, n_.options.estimator, stream)[0];
    std::vector<double> all{e.observed(0)};
    all.insert(all.end(), e.surrogate(0).begin(), e.surrogate(0).end());
    return all;
  }
  static double p_of(const std::vector<double>& all) {
    double reached = 0;
    for (std::size_t s = 1; s < all.size(); ++s) reached += all[s] >= all[0];
    return (1 + reached) / double(all.size());
  }

  bool include(std::vector<Value>& left, std::vector<Value>& chosen, GreedySearch::Step step) {
    std::vector<double> most;
    std::size_t which = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const std::vector<double> one = information({left[i]}, step);
      if (i == 0) most = one;
      if (one[0] > most[0]) which = i;
      for (std::size_t s = 0; s < one.size(); ++s) most[s] = std::max(most[s], one[s]);
    }
    if (!significant(p_of(most))) return false;
    chosen.push_back(left[which]);
    left.erase(left.begin() + std::ptrdiff_t(which));
    return true;
  }

  bool prune() {
    std::vector<double> least;
    std::size_t which = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::vector<double> one = information({sources[i]}, GreedySearch::Step::pruning);
      if (i == 0) least = one;
      if (one[0] < least[0]) which = i;
      for (std::size_t s = 0; s < one.size(); ++s) least[s] = std::min(least[s], one[s]);
    }
    if (significant(p_of(least))) return false;
    sources.erase(sources.begin() + std::ptrdiff_t(which));
    return true;
  }

  void test_all() {
    const std::vector<double> all =
        information(sources, sources.size() == 1 ? GreedySearch::Step::each : GreedySearch::Step::omnibus);
    joint = all[0], joint_p = p_of(all);
    if (!significant(joint_p)) sources.clear();
  }

  /// The largest value is compared with the largest of all in each surrogate; of the others so likewise, until one fails.
  void test_each() {
    std::vector<std::vector<double>> each;
    for (const Value& s : sources) each.push_back(information({s}, GreedySearch::Step::each));
    std::vector<std::size_t> left, kept;
    for (std::size_t i = 0; i < each.size(); ++i) left.push_back(i);
    std::vector<double> p(each.size());
    for (double before = 0; !left.empty();) {
      const auto best = *std::max_element(
          left.begin(), left.end(), [&](std::size_t a, std::size_t b) { return each[a][0] < each[b][0]; });
      std::vector<double> most = each[best];
      for (const std::size_t i : left)
        for (std::size_t s = 1; s < most.size(); ++s) most[s] = std::max(most[s], each[i][s]);
      before = std::max(before, p_of(most));
      if (!significant(before)) break;
      p[best] = before, kept.push_back(best);
      std::erase(left, best);
    }
    std::sort(kept.begin(), kept.end());
    std::vector<Value> accepted;
    for (const std::size_t i : kept) accepted.push_back(sources[i]), p_given_all.push_back(p[i]);
    sources = accepted;
  }

  const PreparedNetwork& n_;
  std::int32_t target_;
};

}  // namespace kolmo::testing_flow
