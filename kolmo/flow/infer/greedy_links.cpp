#include <algorithm>

#include "kolmo/flow/infer/greedy_search.hpp"
#include "kolmo/flow/infer/selected_values.hpp"

namespace kolmo {

LinkResult GreedySearch::link_from(std::int32_t source) const {
  const NetworkOptions& o = options();
  LinkResult link;
  link.source = source, link.target = found_.target, link.min_shift = min_shift_;
  link.value = 0, link.lag = o.min_lag;
  link.profile.assign(std::size_t(o.lags()), Chosen::none);
  const Latest* strongest = nullptr;
  for (const Latest& l : latest_) {
    if (l.value.variable != source) continue;
    link.profile[std::size_t(l.value.lag - o.min_lag)] = l.information;
    if (!strongest || l.information > strongest->information) strongest = &l;
  }
  double joined = 0, best = -1;
  for (const Chosen& c : group().chosen) {
    joined = std::max(joined, c.p_value);
    if (c.value.variable != source) continue;
    const Tested test =
        joined > c.p_given_all ? Tested{joined, c.surrogates} : Tested{c.p_given_all, c.surrogates_given_all};
    if (link.lags.empty() || test.p < link.p_value)
      link.p_value = test.p, link.surrogate_count = test.surrogates;
    link.lags.push_back(c.value.lag);
    if (c.given_all > best) best = c.given_all, link.value = best, link.lag = c.value.lag;
  }
  std::sort(link.lags.begin(), link.lags.end());
  if (!link.lags.empty()) {
    for (const Latest& l : latest_)
      if (same(l.value, {source, link.lag})) link.surrogates = l.surrogates;
  } else if (strongest) {
    link.value = strongest->information, link.lag = strongest->value.lag;
    link.p_value = strongest->test.p, link.surrogate_count = strongest->test.surrogates;
    link.surrogates = strongest->surrogates;
  }
  for (const auto& [values, drawn] : joint_)
    if (values[0].variable == source)
      link.value = drawn.observed[0], link.surrogates = summarize(drawn.surrogates[0]);
  return link;
}

}  // namespace kolmo
