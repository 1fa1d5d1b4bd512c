#include "kolmo/flow/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/flow/result/markup.hpp"
#include "kolmo/flow/result/methods.hpp"
#include "kolmo/flow/result/network_json.hpp"

namespace kolmo::prose {
namespace {

using markup::escape;
using markup::exact;
using markup::number;

std::string plural(std::size_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string correction_name(const NetworkDocument& network) {
  const Correction correction = network.request.correction;
  return correction == Correction::bh
             ? network.idtxl() ? "Benjamini\u2013Yekutieli" : "Benjamini\u2013Hochberg"
         : correction == Correction::bonferroni ? "Bonferroni"
                                                : "none";
}

std::string share_of_false(const NetworkDocument& network) {
  const Correction correction = network.request.correction;
  const std::string pairs = plural(network.links.size(), "ordered pair");
  const std::string percent = number(100 * network.request.alpha) + "\u202f%";
  if (network.greedy() && correction != Correction::none)
    return fmt::format(
        "p\u2011values hold for all links of a target together and are adjusted over the targets, so "
        "that false links are kept at or below {}",
        percent);
  if (correction == Correction::none)
    return fmt::format(
        "p\u2011values are not adjusted, so about {} of the {} would be reported by chance alone if nothing "
        "were coupled",
        percent, pairs);
  const char* meaning = correction == Correction::bh
                            ? "the expected share of false links among those reported"
                            : "the probability of even one false link";
  return fmt::format("p\u2011values are adjusted over {} by {}, which keeps {} at or below {}", pairs,
                     escape(correction_name(network)), meaning, percent);
}

std::string surrogate_clause(const NetworkDocument& network) {
  const NetworkRequest& r = network.request;
  if (network.greedy())
    return network.analytic() ? "each p\u2011value is that of an F test, corrected for choosing the value "
                                "among all that were left"
                              : fmt::format(
                                    "each p\u2011value compares the information that a value adds with the "
                                    "largest over all values "
                                    "that were left, in surrogates {}",
                                    kind_of(r.estimator.surrogate_type).in_report);
  if (network.analytic())
    return std::string("each p\u2011value is that of the F test of linear regression") +
           (r.max_lag > 1
                ? fmt::format(" at the best of lags 1 to {}, corrected by \u0160id\u00e1k for choosing it",
                              r.max_lag)
                : "");
  const std::string_view how = kind_of(r.estimator.surrogate_type).in_report;
  return fmt::format(
      "each p\u2011value compares {} in {} surrogates {}",
      r.max_lag > 1
          ? fmt::format("the largest transfer entropy over lags 1 to {} with the same maximum", r.max_lag)
          : "the transfer entropy with that",
      surrogates_used(network), how);
}

struct Label {
  const char* key;
  const char* text;
};
// The report lists these options first, in this order; other options follow by name.
constexpr Label kLabels[] = {
    {"file", "File"},
    {"columns", "Columns"},
    {"rows", "Rows"},
    {"given", "Conditioned on"},
    {"estimator", "Estimator"},
    {"algorithm", "Algorithm"},
    {"neighbors", "Nearest neighbours"},
    {"theiler", "Theiler window"},
    {"max_lag", "Largest lag"},
    {"dt", "Time between rows"},
    {"dt_unit", "Unit of time"},
    {"embedding", "Embedding"},
    {"preprocess", "Pre-processing"},
    {"standardize", "Standardisation"},
    {"noise", "Added noise"},
    {"test", "Test"},
    {"lag_correction", "Correction for lags"},
    {"surrogates", "Surrogates"},
    {"surrogate_type", "Surrogate type"},
    {"p_value_convention", "p\u2011value"},
    {"correction", "Correction"},
    {"alpha", "Significance level"},
    {"seed", "Seed"},
    {"units", "Units"},
};

/// Names, for a sentence, what estimates are conditioned on beside the target's own past.
std::string own_past(const NetworkDocument& network) {
  return network.request.method == NetworkMethod::multivariate ? " and what was chosen of other sources" : "";
}

std::string words_of(std::string key) {
  std::replace(key.begin(), key.end(), '_', ' ');
  if (!key.empty() && key[0] >= 'a' && key[0] <= 'z') key[0] = static_cast<char>(key[0] - 'a' + 'A');
  return key;
}

std::string text_of(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) return exact(value.get<double>());
  if (value.is_null()) return "not set";
  if (!value.is_array()) return value.dump();
  std::string out;
  for (const auto& item : value) out += (out.empty() ? "" : ", ") + text_of(item);
  return out.empty() ? "none" : out;
}

}  // namespace

std::string p_label(const std::string& text, double p) {
  return text.starts_with("<=") ? "\u2264" + text.substr(2) : text == "-" ? number(p) : text;
}

std::string headline(const NetworkDocument& network) {
  if (network.only_storage()) return storage_headline(network);
  const auto links = network.significant_links();
  const std::string pairs = plural(network.links.size(), "ordered pair");
  const std::string alpha = number(network.request.alpha);
  if (network.links.empty()) return "There is no pair of variables to test.";
  if (!network.tested())
    return fmt::format(
        "<strong>Nothing was tested.</strong> The transfer entropy of {} is shown without surrogates, so "
        "that no "
        "value is known to differ from chance.",
        pairs);
  if (links.empty()) {
    const auto best = std::max_element(
        network.links.begin(), network.links.end(),
        [](const auto& a, const auto& b) { return !(b.value <= a.value) && !std::isnan(b.value); });
    return fmt::format(
        "<strong>No link survived</strong> the test at \u03b1 = {} ({}) among {}. The largest transfer "
        "entropy, {} \u2192 {}, is "
        "{} {} at {} with an adjusted p of {}.",
        alpha,
        network.request.correction == Correction::none ? "not adjusted"
                                                       : correction_name(network) + " correction",
        pairs, escape(network.variables[best->source]), escape(network.variables[best->target]),
        number(best->value), escape(network.units), escape(network.at_lags(*best)), number(best->p_adjusted));
  }
  const NetworkLink& best = *links.front();
  return fmt::format(
      "<strong>{} of {}</strong> carr{} significant information flow at \u03b1 = {}. The strongest is {} "
      "\u2192 {}: {} {} at {}, "
      "adjusted p = {}.",
      links.size(), pairs, links.size() == 1 ? "ies" : "y", alpha, escape(network.variables[best.source]),
      escape(network.variables[best.target]), number(best.value), escape(network.units),
      escape(network.at_lags(best)), number(best.p_adjusted));
}

std::string meaning(const NetworkDocument& network) {
  if (network.only_storage()) return storage_meaning(network);
  const std::string units = escape(network.units), given = network.request.given.text;
  const NetworkRequest& r = network.request;
  std::string measure =
      network.greedy() && r.greedy.measure == GreedyMeasure::mi
          ? "<p>Mutual information is what a source\u2019s past values tell about the target\u2019s present "
            "value; "
            "the target\u2019s own past is not taken into account.</p>\n"
          : fmt::format(
                "<p>Transfer entropy, measured in {0}, is the information that a source\u2019s value "
                "<i>u</i> rows "
                "ago adds about the target\u2019s present value beyond what the target\u2019s own past{1} "
                "already "
                "tell{2}; 0 {0} means that it adds nothing, and an estimate may fall slightly below "
                "zero.</p>\n",
                units, own_past(network) + (given.empty() ? "" : " and the past of " + escape(given)),
                given.empty() && !network.greedy() ? "s" : "");
  if (!network.tested()) return measure;
  return measure +
         fmt::format(
             "<p>A link is drawn where the null hypothesis that the source adds nothing is rejected at "
             "\u03b1 = {}: {}{}, and {}.</p>",
             number(network.request.alpha), surrogate_clause(network),
             network.compared() ? ", p\u00a0=\u00a0" + escape(p_value_formula(network.request.p_value)) : "",
             share_of_false(network));
}

std::string cautions(const NetworkDocument& network) {
  return network.tested() ? "<p>" + escape(caution(network)) + "</p>" : "";
}

std::string warnings(const NetworkDocument& network) {
  if (network.warnings.empty()) return "";
  std::string out =
      "<section class=\"warnings\" aria-labelledby=\"warnings\">\n<h2 id=\"warnings\">Warnings</h2>\n<dl>\n";
  for (const Warning& w : network.warnings)
    out += "<div><dt>" + escape(words_of(w.name)) + "</dt><dd>" + escape(w.text) + "</dd></div>\n";
  return out + "</dl>\n</section>\n";
}

std::string methods(const NetworkDocument& network) {
  std::string out =
      "<section aria-labelledby=\"methods\">\n<h2 id=\"methods\">Methods</h2>\n"
      "<div data-copy=\"methods\" data-type=\"txt\"><p class=\"methods\">" +
      escape(methods_text(network)) + "</p></div>\n<ol class=\"references\">\n";
  for (const Reference& reference : references(network)) out += "<li>" + escape(reference.text) + "</li>\n";
  return out +
         "</ol>\n<details><summary>References as BibTeX</summary><div data-copy=\"references\" "
         "data-type=\"bib\"><pre tabindex=\"0\">" +
         escape(bibtex(network)) + "</pre></div></details>\n</section>\n";
}

std::string settings(const NetworkDocument& network) {
  std::string out = "<dl class=\"settings\">\n";
  const auto row = [&](const std::string& label, const std::string& value) {
    if (!value.empty()) out += "<div><dt>" + escape(label) + "</dt><dd>" + escape(value) + "</dd></div>\n";
  };
  row("Kolmo", network.version);
  row("Device", network.device);
  if (network.seconds) row("Computation", number(*network.seconds) + " s");
  nlohmann::json others = document_options(network);
  if (network.only_storage()) others.erase("correction");  // it is of links
  for (const auto& [key, label] : kLabels) {
    if (std::string_view(key) == "max_lag" && others.contains(key) && others[key].is_number_integer())
      row(label, network.lag_text(others[key].get<long long>()));
    else if (others.contains(key))
      row(label, text_of(others[key]));
    others.erase(key);
  }
  for (const auto& [key, value] : others.items()) row(words_of(key), text_of(value));
  return out + "</dl>\n";
}

}  // namespace kolmo::prose
