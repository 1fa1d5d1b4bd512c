#include "kolmo/flow/result/inspect_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "kolmo/flow/infer/pairwise_search.hpp"
#include "kolmo/flow/test/inspect_test.hpp"
#include "kolmo/flow/test/inspect_value.hpp"

namespace kolmo {
namespace {

std::string more_surrogates(const NetworkOptions& o, std::int64_t used, double needed,
                            std::string_view tests) {
  if (used < o.estimator.surrogates)
    return fmt::format(
        "the data allow no more circular shifts; only fewer {} or more rows lift this limit, or "
        "--surrogate-type block, which has more",
        tests);
  if (needed <= max_surrogates)
    return fmt::format("{:.0f} {} lift this limit", needed,
                       o.method == NetworkMethod::pairwise ? "surrogates" : "of --permutations-max-stat");
  return fmt::format("only fewer {} lift this limit, as {:.0f} surrogates are more than can be asked for",
                     tests, needed);
}

/// Warns if the surrogates that were used are too few for the correction.
std::optional<Warning> too_few_surrogates(std::int64_t used, double pairs, const NetworkOptions& o,
                                          std::string_view name = "pairs") {
  const double least = 1 / (1 + double(used));
  const double tests = o.correction == Correction::none ? 1 : pairs;
  const double together = std::ceil(tests * least / o.alpha - 1e-9),
               needed = std::ceil(tests / o.alpha - 1e-9) - 1;
  if (o.p_value != PValue::plus_one || together <= 1) return {};
  const std::string start = fmt::format("the smallest p that {} surrogates can give is {:.3g}", used, least);
  const std::string advice = more_surrogates(o, used, needed, name);
  return Warning{
      "too_few_surrogates",
      o.correction == Correction::bonferroni
          ? fmt::format("{}; times {:.0f} {} this exceeds {}, so that no link can be significant; {}", start,
                        pairs, name, o.alpha, advice)
      : together > tests
          ? fmt::format("{}, so that no link can be significant at {}; {}", start, o.alpha, advice)
          : fmt::format("{}, so that of {:.0f} {} links can be significant only if at least {:.0f} "
                        "reach it together; {}",
                        start, pairs, name, together, advice)};
}

/// The rows of the link that has the fewest.
std::vector<std::int64_t> fewest_rows(const Network& network, const Series& series, const NetworkOptions& o) {
  const auto least = std::min_element(network.links.begin(), network.links.end(),
                                      [](const auto& a, const auto& b) { return a.samples < b.samples; });
  if (least == network.links.end()) return {};
  return link_task(series, o, {least->target, longest_embedding(o), 0, 0}, {&least->source, 1}).times;
}

/// Returns for each link the number of different surrogates that its data allow, or that were asked for if fewer.
std::vector<std::int64_t> available_surrogates(const Network& network, const PreparedNetwork& prepared) {
  const NetworkOptions& o = prepared.options;
  std::vector<std::int64_t> all;
  for (const LinkResult& l : network.links) {
    std::int64_t available = o.rule().sequential() ? o.estimator.surrogates : l.surrogate_count;
    if (o.rule().sequential() && o.estimator.surrogate_type == SurrogateMethod::circular)
      available = std::min(available, different_shifts(l.samples, l.min_shift));
    all.push_back(available);
  }
  return all;
}

/// Whether a test that ended for want of surrogates might have become significant with more: none of them all reached the value.
bool more_might_help(const Network& network, std::span<const std::int64_t> available,
                     const NetworkOptions& o) {
  for (std::size_t i = 0; i < network.links.size(); ++i) {
    const LinkResult& l = network.links[i];
    const bool at_floor = l.p_value * double(1 + available[i]) < 1.5;
    if (l.surrogate_count == available[i] && at_floor && l.value > 0 && !l.significant) return true;
  }
  return !o.rule().sequential();
}

constexpr double worth_a_look = 0.5;  // nats
constexpr const char* infinite_link =
    "the source determines the target, so that the truth is infinite; the value only tells how many rows "
    "there are";

bool is_infinite(const Network& network, const LinkResult& link, const Series& series,
                 const NetworkOptions& o) {
  if (link.value < worth_a_look) return false;
  const auto target = std::find_if(network.targets.begin(), network.targets.end(),
                                   [&](const TargetResult& t) { return t.target == link.target; });
  if (target == network.targets.end()) return false;
  const EstimationTask task = link_task(series, o, *target, {&link.source, 1});
  return !why_infinite(series, task, std::size_t(link.lag - o.min_lag), link.value, o.estimator).empty();
}

/// Whether two variables that change have the same values, in every row in which both have one.
bool are_equal(const Series& series, std::int32_t a, std::int32_t b) {
  const std::vector<double>&x = series.values[std::size_t(a)], &y = series.values[std::size_t(b)];
  const auto same = [](double v, double w) { return v == w || std::isnan(v) || std::isnan(w); };
  return !is_constant(x) && std::equal(x.begin(), x.end(), y.begin(), same);
}

/// Adds the pairs of variables that have the same values, whose information is shared.
void add_duplicates(const Series& series, const NetworkOptions& o, SharedWarnings& found) {
  for (std::size_t i = 0; i < o.variables.size(); ++i)
    for (std::size_t j = i + 1; j < o.variables.size(); ++j)
      if (are_equal(series, o.variables[i], o.variables[j]))
        found.add("duplicate", series.names[std::size_t(o.variables[i])] + " and " +
                                   series.names[std::size_t(o.variables[j])]);
}

/// The estimate of a value that a greedy search chose, given all others.
EstimationTask task_of(const Series& series, const NetworkOptions& o, const TargetSelection& t,
                       const SourceSelection& s, const Chosen& chosen) {
  EstimationTask task{
      .name = series.names[std::size_t(t.target)], .x = {{chosen.value}}, .y = {{t.target, 0}}, .z = o.given};
  for (const std::vector<Chosen>* values : {&t.own_past, &s.chosen})
    for (const Chosen& other : *values)
      if (&other != &chosen) task.z.push_back(other.value);
  task.times = tested_times(series, embeddable(series, greedy_reach(o)), o.estimator);
  return task;
}

/// Warns of chosen values whose information is infinite, and of analytic tests of mutual information that do not hold.
void inspect_chosen(const Network& network, const Series& series, const NetworkOptions& o,
                    SharedWarnings& found) {
  for (const TargetSelection& t : network.selections)
    for (const SourceSelection& s : t.sources)
      for (const Chosen& c : s.chosen) {
        const std::string name =
            series.names[std::size_t(c.value.variable)] + " -> " + series.names[std::size_t(t.target)];
        const bool looks_infinite = c.given_all >= worth_a_look;
        const bool analytic = o.estimator.tested_analytically() && o.greedy.measure == GreedyMeasure::mi;
        if (!looks_infinite && !analytic) continue;
        const EstimationTask task = task_of(series, o, t, s, c);
        if (looks_infinite && !why_infinite(series, task, 0, c.given_all, o.estimator).empty())
          found.add("infinite", name);
        if (analytic && !inspect_analytic_test(series, task, o.estimator).empty())
          found.add("analytic_test", name);
      }
}

/// Warnings of greedy searches.
std::vector<Warning> inspect_searches(const Network& network, const Series& series, const NetworkOptions& o) {
  std::vector<Warning> all;
  SharedWarnings found;
  double searches = 0;
  std::int64_t used = *o.greedy.permutations_max_stat;
  for (const TargetSelection& t : network.selections) {
    bool full = t.full;
    for (const SourceSelection& s : t.sources) full |= s.full;
    if (full) found.add("max_conditions", series.names[std::size_t(t.target)]);
    searches += double(t.sources.size());
  }
  add_duplicates(series, o, found);
  inspect_chosen(network, series, o, found);
  const EstimatorOptions& e = o.estimator;
  if (e.surrogates && o.greedy.measure != GreedyMeasure::ais) {
    const auto whole = embeddable(series, greedy_reach(o)), rows = tested_times(series, whole, e);
    for (const Warning& w : trials_cut(rows.size(), whole.size())) all.push_back(w);
    EstimatorOptions shifted = e;
    for (const LinkResult& l : network.links) shifted.min_shift = std::max(shifted.min_shift, l.min_shift);
    used = different_surrogates(series, rows, shifted, e.surrogates);
    const char* searched = o.method == NetworkMethod::bivariate ? "pairs" : "targets";
    for (auto& w : {few_surrogates(used, e, e.surrogates), too_few_surrogates(used, searches, o, searched)})
      if (w) all.push_back(*w);
  }
  found.tell("duplicate", "have the same values, so that only one of them can be chosen as a source", all);
  found.tell("max_conditions",
             "as many values were chosen as --max-conditions or, for the estimator gaussian, the rows allow; "
             "they are kept, and no more were tested",
             all);
  found.tell("infinite", infinite_link, all);
  found.tell("analytic_test",
             "both change slowly, so that the analytic p-value of their mutual information is too small; "
             "--surrogates 200 tests against surrogates",
             all);
  return all;
}

}  // namespace

namespace {

/// Warns of the estimator once, and names the links whose states are undersampled.
void inspect_estimator_of_links(const Network& network, const Series& series, const NetworkOptions& o,
                                std::vector<Warning>& all) {
  SharedWarnings undersampled;
  bool biased = false;
  for (const LinkResult& l : network.links) {
    const auto target = std::find_if(network.targets.begin(), network.targets.end(),
                                     [&](const TargetResult& t) { return t.target == l.target; });
    if (target == network.targets.end() || (o.estimator.estimator == Estimator::ksg && biased)) continue;
    const EstimationTask task = link_task(series, o, *target, {&l.source, 1});
    for (const Warning& w : inspect_estimator(series, task, std::size_t(l.lag - o.min_lag), o.estimator)) {
      if (w.name == "undersampled")
        undersampled.add(w.name,
                         series.names[std::size_t(l.source)] + " -> " + series.names[std::size_t(l.target)]);
      else if (!std::exchange(biased, true))
        all.push_back(w);
    }
    if (o.estimator.estimator == Estimator::gaussian || (o.estimator.estimator == Estimator::ksg && !biased))
      return;
  }
  undersampled.tell(
      "undersampled",
      "fewer rows than joint states, or most states that occur do so once, so that the value grows with "
      "the number of states, whatever flows; a shorter past, fewer conditions or more rows help",
      all);
}

}  // namespace

std::vector<Warning> inspect(const Network& network, const PreparedNetwork& prepared) {
  const Series& series = prepared.series;
  const NetworkOptions& options = prepared.options;
  if (options.method != NetworkMethod::pairwise) return inspect_searches(network, series, options);
  std::vector<Warning> all;
  const EstimatorOptions& e = options.estimator;
  if (e.tested_analytically()) {  // an analytic p-value has no smallest value
  } else if (e.surrogates == 0) {
    all.push_back({"untested", "there are no surrogates, so that no link was tested"});
  } else {
    const std::vector<std::int64_t> available = available_surrogates(network, prepared);
    std::int64_t used = e.surrogates;
    for (const std::int64_t surrogates : available) used = std::min(used, surrogates);
    const auto rows = fewest_rows(network, series, options);
    if (!network.links.empty()) {
      const LinkResult& l = network.links[0];
      const EstimationTask task =
          link_task(series, options, {l.target, longest_embedding(options), 0, 0}, {&l.source, 1});
      const auto whole = times_of(series, task, network_reach(options, longest_embedding(options)));
      for (const Warning& w : trials_cut(task.times.size(), whole.size())) all.push_back(w);
    }
    const bool circular = e.surrogate_type == SurrogateMethod::circular;
    const bool limited = more_might_help(network, available, options);
    // Sequential tests take as many as they need, of as many as there are.
    const std::int64_t wanted =
        options.rule().sequential() ? std::min(few_different, e.surrogates) : e.surrogates;
    const std::int64_t different = circular ? used : different_surrogates(series, rows, e, e.surrogates);
    for (auto& w : {few_surrogates(different, e, wanted),
                    limited ? too_few_surrogates(used, double(network.links.size()), options) : std::nullopt})
      if (w) all.push_back(*w);
  }
  SharedWarnings found;
  for (const LinkResult& l : network.links) {
    if (!is_significant(l.p_adjusted, options.alpha, options.p_value)) continue;
    const std::string name =
        series.names[std::size_t(l.source)] + " -> " + series.names[std::size_t(l.target)];
    if (l.value < 0) found.add("negative", name);
    if (is_infinite(network, l, series, options)) found.add("infinite", name);
  }
  inspect_estimator_of_links(network, series, options, all);
  found.tell("negative", "larger than in surrogates, yet below 0: no information flow, and no link", all);
  found.tell("infinite", infinite_link, all);
  if (options.conditional_all) add_duplicates(series, options, found);
  found.tell("duplicate", "have the same values, so that given one the other tells nothing", all);
  return all;
}

}  // namespace kolmo
