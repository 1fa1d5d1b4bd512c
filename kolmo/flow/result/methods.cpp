#include "kolmo/flow/result/methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "kolmo/flow/result/link_table.hpp"
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

std::string plural(double count, const std::string& word) {
  return fmt::format("{:.10g} {}{}", count, word, count == 1 ? "" : "s");
}

std::string estimator_sentence(const NetworkDocument& d) {
  std::string out = fmt::format("Transfer entropy (Schreiber 2000) was estimated for {} of {}, in {}",
                                plural(double(d.links.size()), "ordered pair"),
                                plural(double(d.variables.size()), "variable"), d.units);
  const std::string algorithm = d.text_option("algorithm"), estimator = d.text_option("estimator");
  if (!estimator.empty() && !estimator.starts_with("ksg"))
    out += ", by the estimator " + estimator;
  else if (algorithm.starts_with("ksg"))
    out += ", by the nearest-neighbour estimator of Kraskov et al. (2004), algorithm " + algorithm.substr(3) +
           ", in its conditional form (Frenzel and Pompe 2007)";
  if (const double k = d.number_option("neighbors"); !std::isnan(k)) out += fmt::format(", with k = {}", k);
  return out + ". ";
}

std::string data_sentence(const NetworkDocument& d) {
  std::string out = "The data have " + plural(double(d.rows), "row");
  if (d.time_step) out += fmt::format(", {:.6g} {} apart", d.time_step->step, d.time_step->unit);
  if (d.missing_rows > 0)
    out += fmt::format(", of which {} with missing values; these split them into {}",
                       plural(double(d.missing_rows), "row"), plural(double(d.sets), "observation set"));
  out += ". ";
  if (!d.targets.empty())
    out += "Each estimate used " + range_over(d, [](const auto& t) { return t.samples; }) +
           " samples (embedded rows). ";
  const std::string transform = d.text_option("transform"), standardize = d.text_option("standardize");
  if (!transform.empty() && transform != "none")
    out += transform == "log"          ? "Logarithms were taken of all series. "
           : transform == "difference" ? "All series were differenced. "
                                       : "All series were replaced by the differences of their logarithms. ";
  if (standardize == "columns") out += "Embedded columns were standardised. ";
  if (standardize == "series") out += "Series were standardised before embedding. ";
  if (const double noise = d.number_option("noise"); noise > 0)
    out += fmt::format("Normal noise of standard deviation {:.3g} was added to break ties. ", noise);
  return out;
}

std::string embedding_sentence(const NetworkDocument& d) {
  std::string out;
  const std::string rule = d.text_option("embedding");
  const double most = d.number_option("max_history"), tau = d.number_option("max_tau");
  if (rule == "ais" || rule == "ragwitz") {
    out = fmt::format(
        "The past of each target was embedded with the history of 1 to {} values and the step "
        "tau of {} rows that ",
        most, range(1, tau));
    const std::string estimator = d.text_option("estimator");
    const bool corrected = !estimator.empty() && estimator != "ksg";
    out += rule == "ragwitz" ? "minimise the error of local prediction (Ragwitz and Kantz 2002)"
                             : "maximise its active information storage (Lizier et al. 2012)";
    if (rule == "ais" && corrected) out += " less its expected bias";
    if (!d.targets.empty())
      out += "; the chosen histories are " + range_over(d, [](const auto& t) { return t.history; }) +
             " and taus " + range_over(d, [](const auto& t) { return t.tau; });
    out += ". ";
  } else if (!d.targets.empty()) {
    out = "The past of each target was embedded with a history of " +
          range_over(d, [](const auto& t) { return t.history; }) + " and a tau of " +
          range_over(d, [](const auto& t) { return t.tau; }) + ". ";
  }
  const double lags = d.number_option("max_lag"), past = d.number_option("source_history");
  if (!std::isnan(past))
    out += "The past of each source had " + plural(past, "value") +
           (past > 1 ? fmt::format(", {} apart", plural(d.number_option("source_tau"), "row")) : "") + ". ";
  if (!std::isnan(lags)) {
    out += fmt::format("Sources were lagged by {}", range(1, lags)) + (lags == 1 ? " row" : " rows");
    if (d.time_step)
      out += fmt::format(" ({} {})", range(d.time_step->step, d.time_step->step * lags), d.time_step->unit);
    out += lags > 1 ? ", and the value of a link is the largest over these lags. " : ". ";
  }
  const auto given = d.options.find("given");
  if (given != d.options.end() && given->is_string() && !given->get<std::string>().empty())
    out += "Estimates were conditioned on " + given->get<std::string>() +
           " (lags in rows; 1 where none is given). ";
  if (const double window = d.number_option("theiler"); window > 0)
    out += fmt::format("Rows within {} of each other in time were not used as neighbours (Theiler 1986). ",
                       plural(window, "row"));
  return out;
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

std::string test_sentence(const NetworkDocument& d) {
  if (!d.tested()) return "No link was tested for significance. ";
  const std::string type = d.text_option("surrogate_type"), correction = d.text_option("correction"),
                    test = d.text_option("test");
  const std::string how =
      type == "permute"    ? "the embedded rows of the source were randomly permuted"
      : type == "circular" ? "the source was shifted in time, around its end, by a random number of rows "
                             "(Quian Quiroga et al. 2002)" +
                                 shortest_shifts(d)
      : type == "block"
          ? "the source was shuffled in blocks of " + plural(d.number_option("block_length"), "row")
      : type == "trials" ? "each trial had the source of a random trial"
      : type == "phase"  ? "the source had the amplitudes of its Fourier transform and random phases"
      : type == "iaaft"  ? "the source had its values in an order with nearly the same Fourier amplitudes "
                           "(Schreiber and Schmitz 1996)"
                         : "the source was replaced (" + type + ")";
  std::string out =
      test.empty()
          ? fmt::format(
                "Each link was compared with the same statistic in {} surrogates (Theiler et al. 1992), in "
                "which {}; p = {}. ",
                surrogates_used(d), how, d.text_option("p_value_convention"))
          : "Each link was tested by an " + test + " test" +
                (d.text_option("lag_correction").empty()
                     ? ". "
                     : ", of the smallest p over the lags, corrected by Sidak. ");
  out += correction == "bh"
             ? "The p-values were adjusted over all pairs by the procedure of Benjamini and Hochberg (1995)"
         : correction == "bonferroni" ? "The p-values were adjusted over all pairs by Bonferroni's method"
                                      : "The p-values were not adjusted for the number of pairs";
  out +=
      fmt::format(". Links with a value above 0 are significant at an adjusted p of {}; these are {} of {}. ",
                  d.number_option("alpha"), d.significant_links().size(), d.links.size());
  return test.empty() ? out + "Bias-corrected values are values less the mean of the surrogates. " : out;
}

std::string provenance(const NetworkDocument& d) {
  std::string out = "Computed with Kolmo " + d.version;
  if (!d.device.empty()) out += " on " + d.device;
  if (const double seed = d.number_option("seed"); !std::isnan(seed))
    out += fmt::format(", seed {:.0f}", seed);
  if (!d.date.empty()) out += ", " + d.date;
  if (!d.data.sha256.empty()) out += "; SHA-256 of the " + d.data.of + ": " + d.data.sha256;
  return out + ".";
}

}  // namespace

std::string methods_text(const NetworkDocument& d) {
  return estimator_sentence(d) + data_sentence(d) + embedding_sentence(d) + test_sentence(d) + provenance(d);
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
