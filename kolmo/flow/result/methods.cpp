#include "kolmo/flow/result/methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/flow/result/methods_greedy.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/sha256.hpp"

namespace kolmo {
namespace {

using Json = nlohmann::ordered_json;

std::string range(double low, double high) {
  return low == high ? fmt::format("{:.6g}", low) : fmt::format("{:.6g} to {:.6g}", low, high);
}

/// The smallest and the largest value of a number that each target has.
template <class F>
std::string range_over(const NetworkDocument& d, F number) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const NetworkTarget& t : d.targets)
    low = std::min(low, double(number(t))), high = std::max(high, double(number(t)));
  return range(low, high);
}

/// How many samples estimates used: those of links, of which the document may have none.
std::string samples_range(const NetworkDocument& d) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const NetworkLink& l : d.links)
    if (l.samples) low = std::min(low, double(l.samples)), high = std::max(high, double(l.samples));
  return low <= high ? range(low, high) : range_over(d, [](const auto& t) { return t.samples; });
}

std::string plural(double count, const std::string& word) {
  return fmt::format("{:.10g} {}{}", count, word, count == 1 ? "" : "s");
}

std::string estimator_sentence(const NetworkDocument& d) {
  const GreedyMeasure measure = d.request.greedy.measure;
  const std::string what = measure == GreedyMeasure::te   ? "Transfer entropy (Schreiber 2000)"
                           : measure == GreedyMeasure::mi ? "Mutual information"
                                                          : "Active information storage (Lizier et al. 2012)";
  std::string out =
      what + " was estimated for " +
      (measure == GreedyMeasure::ais ? "" : plural(double(d.links.size()), "ordered pair") + " of ") +
      plural(double(d.variables.size()), "variable") + ", in " + d.units;
  const EstimatorOptions& e = d.request.estimator;
  if (e.estimator == Estimator::ksg)
    out += fmt::format(
        ", by the nearest-neighbour estimator of Kraskov et al. (2004), algorithm {}, in its conditional "
        "form "
        "(Frenzel and Pompe 2007), with k = {}{}",
        e.algorithm == KsgAlgorithm::ksg1 ? 1 : 2, e.neighbors,
        e.neighbors_chosen ? ", chosen by rows and columns (exponent of Mack and Rosenblatt 1979)" : "");
  else
    out += fmt::format(", by the estimator {}", estimator_names[std::size_t(e.estimator)]);
  return out + ". ";
}

std::string data_sentence(const NetworkDocument& d) {
  std::string out = "The data have " + plural(double(d.rows), "row");
  if (d.time_step) out += fmt::format(", {:.6g} {} apart", d.time_step->step, d.time_step->unit);
  if (d.missing_rows > 0)
    out += fmt::format(", of which {} with missing values; {}", plural(double(d.missing_rows), "row"),
                       d.greedy() ? "a target uses the rows in which all variables have values"
                       : d.request.conditional_all
                           ? "a link uses the rows in which all variables have values"
                           : "a link uses the rows in which its own variables have values");
  if (d.time && d.time->gaps)
    out += fmt::format("; {} of time without a row end observation sets",
                       plural(double(d.time->absent), "step"));
  if (!d.request.where.empty())
    out += "; only rows where " + d.request.where + " count as the present of a target";
  out += ". ";
  if (!d.targets.empty()) out += "Each estimate used " + samples_range(d) + " samples (embedded rows). ";
  const Preparation& p = d.request.preparation;
  if (p.transform == Transform::log) out += "Logarithms were taken of all series. ";
  if (p.transform == Transform::difference) out += "All series were differenced. ";
  if (p.transform == Transform::log_difference)
    out += "All series were replaced by the differences of their logarithms. ";
  if (d.request.estimator.estimator != Estimator::ksg) return out;
  if (p.standardize == Standardize::columns) out += "Embedded columns were standardised. ";
  if (p.standardize == Standardize::series) out += "Series were standardised before embedding. ";
  if (p.noise > 0)
    out += fmt::format("Normal noise of standard deviation {:.3g} was added to break ties. ", p.noise);
  return out;
}

std::string window_and_conditions(const NetworkDocument& d) {
  const NetworkRequest& r = d.request;
  std::string out;
  if (r.conditional_all)
    out += fmt::format(
        "Each pair was conditioned on the values of all other variables at lags of {} (complete transfer "
        "entropy, Lizier et al. 2008). ",
        range(1, double(r.max_lag)) + (r.max_lag == 1 ? " row" : " rows"));
  if (!r.given.empty())
    out += "Estimates were conditioned on " + r.given.text + " (lags in rows; 1 where none is given). ";
  if (const std::int64_t window = r.estimator.theiler; window > 0 && r.estimator.estimator == Estimator::ksg)
    out += fmt::format("Rows within {} of each other in time were not used as neighbours (Theiler 1986). ",
                       plural(double(window), "row"));
  return out;
}

std::string embedding_sentence(const NetworkDocument& d) {
  std::string out;
  const NetworkRequest& r = d.request;
  if (r.embedding != EmbeddingRule::given) {
    out = fmt::format(
        "The past of each target was embedded with the history of 1 to {} values and the step tau of {} rows "
        "that ",
        r.max_history, range(1, double(r.max_tau)));
    out += r.embedding == EmbeddingRule::ragwitz
               ? "minimise the error of local prediction (Ragwitz and Kantz 2002)"
               : "maximise its active information storage (Lizier et al. 2012)";
    if (r.embedding == EmbeddingRule::ais && r.estimator.estimator != Estimator::ksg)
      out += " less its expected bias";
    if (!d.targets.empty())
      out += "; the chosen histories are " + range_over(d, [](const auto& t) { return t.history; }) +
             " and taus " + range_over(d, [](const auto& t) { return t.tau; });
    out += ". ";
  } else if (!d.targets.empty()) {
    out = "The past of each target was embedded with a history of " +
          range_over(d, [](const auto& t) { return t.history; }) + " and a tau of " +
          range_over(d, [](const auto& t) { return t.tau; }) + ". ";
  }
  out += "The past of each source had " + plural(double(r.source.history), "value") +
         (r.source.history > 1 ? fmt::format(", {} apart", plural(double(r.source.tau), "row")) : "") + ". ";
  const auto lags = double(r.max_lag);
  out += fmt::format("Sources were lagged by {}", range(1, lags)) + (lags == 1 ? " row" : " rows");
  if (d.time_step)
    out += fmt::format(" ({} {})", range(d.time_step->step, d.time_step->step * lags), d.time_step->unit);
  out += lags > 1 ? ", and the value of a link is the largest over these lags. " : ". ";
  return out + window_and_conditions(d);
}

/// The text ", at least 5" or, if links differ, ", at least 5 to 9, by link".
std::string shortest_shifts(const NetworkDocument& d) {
  if (d.links.empty()) return "";
  const auto [least, most] = std::minmax_element(
      d.links.begin(), d.links.end(), [](const auto& a, const auto& b) { return a.min_shift < b.min_shift; });
  if (most->min_shift == 0) return "";
  return ", at least " + range(double(least->min_shift), double(most->min_shift)) +
         (least->min_shift < most->min_shift ? ", by link" : "");
}

std::string parameter_text(const NetworkDocument& d, SurrogateParameter parameter) {
  switch (parameter) {
    case SurrogateParameter::min_shift:
      return shortest_shifts(d);
    case SurrogateParameter::block_length:
      return plural(double(d.request.estimator.block_length), "row");
    default:
      return "";
  }
}

std::string test_sentence(const NetworkDocument& d) {
  if (!d.tested()) return "No link was tested for significance. ";
  const NetworkRequest& r = d.request;
  const SurrogateKind& kind = kind_of(r.estimator.surrogate_type);
  std::string out;
  if (d.analytic()) {
    out = std::string("Each link was tested by an F test") +
          (r.max_lag > 1 ? ", of the smallest p over the lags, corrected by Sidak. " : ". ");
  } else {
    out = fmt::format(
        "Each link was compared with the same statistic in {} surrogates (Theiler et al. 1992), in which {}; "
        "p = {}. ",
        surrogates_used(d), fmt::format(fmt::runtime(kind.in_methods), parameter_text(d, kind.parameter)),
        p_value_formula(r.p_value));
    if (d.sequential())
      out += fmt::format(
          "Tests were sequential (Besag and Clifford 1991): a link got no more surrogates once {} of them "
          "had reached its value, of "
          "which the last one is not counted, and all links that were left ended together once they were "
          "significant at half the "
          "level. ",
          *r.exceedances);
  }
  out += r.correction == Correction::bh
             ? "The p-values were adjusted over all pairs by the procedure of Benjamini and Hochberg (1995)"
         : r.correction == Correction::bonferroni
             ? "The p-values were adjusted over all pairs by Bonferroni's method"
             : "The p-values were not adjusted for the number of pairs";
  out +=
      fmt::format(". Links with a value above 0 are significant at an adjusted p of {}; these are {} of {}. ",
                  r.alpha, d.significant_links().size(), d.links.size());
  return d.compared() ? out + "Bias-corrected values are values less the mean of the surrogates. " : out;
}

/// What differs from the defaults and no sentence tells.
std::string other_sentence(const NetworkDocument& d) {
  const std::string others = other_options(d.request);
  return others.empty() ? "" : "Further options: " + others + ". ";
}

std::string provenance(const NetworkDocument& d) {
  std::string out = "Computed with Kolmo " + d.version;
  if (!d.device.empty()) out += " on " + d.device;
  out += fmt::format(", seed {}", d.request.estimator.seed);
  if (!d.date.empty()) out += ", " + d.date;
  if (!d.data.sha256.empty()) out += "; SHA-256 of the " + d.data.of + ": " + d.data.sha256;
  return out + ".";
}

}  // namespace

std::string methods_text(const NetworkDocument& d) {
  if (d.greedy()) {
    const SurrogateKind& kind = kind_of(d.request.estimator.surrogate_type);
    const std::string how = fmt::format(fmt::runtime(kind.in_methods), parameter_text(d, kind.parameter));
    return estimator_sentence(d) + data_sentence(d) + window_and_conditions(d) + greedy_sentences(d, how) +
           other_sentence(d) + provenance(d);
  }
  return estimator_sentence(d) + data_sentence(d) + embedding_sentence(d) + test_sentence(d) +
         other_sentence(d) + provenance(d);
}

Json methods_json(const NetworkDocument& d) {
  Json j{{"text", methods_text(d)}};
  if (!d.date.empty()) j["date"] = d.date;
  if (!d.data.sha256.empty()) j["data"] = {{"sha256", d.data.sha256}, {"of", d.data.of}};
  j["references"] = Json::array();
  for (const Reference& r : references(d)) j["references"].push_back({{"key", r.key}, {"text", r.text}});
  j["bibtex"] = bibtex(d);
  return j;
}

Checksum data_checksum(const std::string& path, const Series& series) {
  if (std::filesystem::is_regular_file(path)) return {sha256(read_file(path)), "data file"};
  std::string bytes;
  const auto add = [&](const auto& values) {
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
  };
  for (const std::string& name : series.names) add(name), bytes += '\0';
  for (const auto& values : series.values) add(values);
  return {sha256(bytes), "prepared series"};
}

}  // namespace kolmo
