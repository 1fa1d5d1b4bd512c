#include "kolmo/flow/report_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "kolmo/flow/markup.hpp"

namespace kolmo::prose {
namespace {

using markup::escape;
using markup::exact;
using markup::number;

std::string plural(std::size_t count, const char* word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

std::string correction_name(const NetworkDocument& network) {
  const std::string correction = network.text_option("correction");
  if (correction == "bh") return "Benjamini\u2013Hochberg";
  if (correction == "bonferroni") return "Bonferroni";
  return correction;
}

std::string share_of_false(const NetworkDocument& network) {
  const std::string correction = network.text_option("correction");
  const std::string pairs = plural(network.links.size(), "ordered pair");
  const std::string percent = number(100 * network.number_option("alpha")) + "\u202f%";
  if (correction == "none")
    return fmt::format(
        "p\u2011values are not corrected, so about {} of the {} would be reported by chance alone if nothing "
        "were coupled",
        percent, pairs);
  const char* meaning = correction == "bh" ? "the expected share of false edges among those reported"
                        : correction == "bonferroni" ? "the probability of even one false edge"
                                                     : "false edges";
  return fmt::format("p\u2011values are corrected over {} by {}, which keeps {} at or below {}", pairs,
                     escape(correction_name(network)), meaning, percent);
}

std::string surrogate_clause(const NetworkDocument& network) {
  const std::string type = network.text_option("surrogate_type");
  const std::string how = type == "permute" ? "whose source samples are randomly permuted"
                          : type == "circular"
                              ? "whose source is shifted in time, around the end, by a random amount"
                          : type == "block" ? "whose source is shuffled in blocks"
                                            : "of type " + escape(type);
  const double max_lag = network.number_option("max_lag");
  return fmt::format(
      "each p\u2011value compares {} in {} surrogates {}",
      max_lag > 1
          ? fmt::format("the largest transfer entropy over lags 1 to {} with the same maximum", max_lag)
          : "the transfer entropy with that",
      network.number_option("surrogates"), how);
}

struct Label {
  const char* key;
  const char* text;
};
// In the order in which the report lists them; other options follow by name.
constexpr Label kLabels[] = {
    {"file", "File"},
    {"columns", "Columns"},
    {"rows", "Rows"},
    {"given", "Conditioned on"},
    {"algorithm", "Estimator"},
    {"neighbors", "Nearest neighbours"},
    {"theiler", "Theiler window"},
    {"max_lag", "Largest lag"},
    {"embedding", "Embedding"},
    {"preprocess", "Pre-processing"},
    {"standardize", "Standardisation"},
    {"noise", "Added noise"},
    {"surrogates", "Surrogates"},
    {"surrogate_type", "Surrogate type"},
    {"p_value_convention", "p\u2011value"},
    {"correction", "Correction"},
    {"alpha", "Significance level"},
    {"seed", "Seed"},
    {"units", "Units"},
};

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

// The variables that every pair is conditioned on, or "".
std::string conditions(const NetworkDocument& network) {
  const auto given = network.options.find("given");
  return given == network.options.end() || given->is_null() || given->empty() ? "" : text_of(*given);
}

std::string sort_key(double value) { return std::isnan(value) ? "" : exact(value); }

}  // namespace

std::string headline(const NetworkDocument& network) {
  const auto edges = network.edges();
  const std::string pairs = plural(network.links.size(), "ordered pair");
  const std::string alpha = number(network.number_option("alpha"));
  if (network.links.empty()) return "There is no pair of variables to test.";
  if (edges.empty()) {
    const auto best = std::max_element(
        network.links.begin(), network.links.end(),
        [](const auto& a, const auto& b) { return !(b.value <= a.value) && !std::isnan(b.value); });
    return fmt::format(
        "<strong>No edge survived</strong> the test at \u03b1 = {} ({}) among {}. The largest transfer "
        "entropy, {} \u2192 {}, is "
        "{} {} at lag {} with a corrected p of {}.",
        alpha,
        network.text_option("correction") == "none" ? "uncorrected"
                                                    : correction_name(network) + " correction",
        pairs, escape(network.variables[best->source]), escape(network.variables[best->target]),
        number(best->value), escape(network.units), best->lag, number(best->p_adjusted));
  }
  const NetworkLink& best = *edges.front();
  return fmt::format(
      "<strong>{} of {}</strong> carr{} significant information flow at \u03b1 = {}. The strongest is {} "
      "\u2192 {}: {} {} at lag {}, "
      "corrected p = {}.",
      edges.size(), pairs, edges.size() == 1 ? "ies" : "y", alpha, escape(network.variables[best.source]),
      escape(network.variables[best.target]), number(best.value), escape(network.units), best.lag,
      number(best.p_adjusted));
}

std::string meaning(const NetworkDocument& network) {
  const std::string units = escape(network.units), given = conditions(network);
  return fmt::format(
      "<p>Transfer entropy, measured in {0}, is the information that a source\u2019s value <i>u</i> samples "
      "ago adds "
      "about the target\u2019s present value beyond what the target\u2019s own past{1} already tell{2}; 0 "
      "{0} means "
      "that it adds nothing, and an estimate may fall slightly below zero.</p>\n"
      "<p>An edge is drawn where the null hypothesis that the source adds nothing is rejected at \u03b1 = "
      "{3}: {4}, "
      "p\u00a0=\u00a0{5}, and {6}.</p>",
      units, given.empty() ? "" : " and the past of " + escape(given), given.empty() ? "s" : "",
      number(network.number_option("alpha")), surrogate_clause(network),
      escape(network.text_option("p_value_convention")), share_of_false(network));
}

std::string cautions(const NetworkDocument& network) {
  std::string out =
      conditions(network).empty()
          ? "<p>Each pair is tested by itself, so a common driver or a chain of influences can appear "
            "as a direct edge; transfer entropy is evidence of prediction, not by itself of cause.</p>"
          : "<p>Transfer entropy is evidence of prediction, not by itself of cause: a driver that was "
            "not measured can appear as an edge.</p>";
  const double surrogates = network.number_option("surrogates"), alpha = network.number_option("alpha");
  const std::string correction = network.text_option("correction");
  if (network.text_option("p_value_convention") != "(1+count)/(1+S)" || correction == "none") return out;
  // With S surrogates no p-value lies below 1/(1+S).
  const auto pairs = static_cast<double>(network.links.size());
  const double together = std::ceil(pairs / (alpha * (1 + surrogates)) - 1e-9);
  if (together <= 1) return out;
  const double needed = std::ceil(pairs / alpha - 1e-9) - 1;
  const std::string start = fmt::format("The smallest p\u2011value that {} surrogates can give is {}",
                                        surrogates, number(1 / (1 + surrogates)));
  if (correction == "bonferroni")
    out += fmt::format(
        "<p><strong>Too few surrogates.</strong> {}; times {} pairs this exceeds \u03b1 = {}, so no edge can "
        "be "
        "significant. At least {} surrogates are needed.</p>",
        start, pairs, number(alpha), needed);
  if (correction == "bh")
    out += fmt::format(
        "<p><strong>Resolution.</strong> {}, so with {} pairs edges can be significant only if at least {} "
        "pairs "
        "reach it together; {} surrogates would lift this limit.</p>",
        start, pairs, together, needed);
  return out;
}

std::string link_table(const NetworkDocument& network, const std::vector<const NetworkLink*>& links,
                       const std::string& caption) {
  std::string out = "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + escape(caption) +
                    "\"><table class=\"sortable\"><caption>" + escape(caption) + "</caption><thead><tr>";
  const std::string value = "TE (" + escape(network.units) + ")";
  const std::array<std::string, 6> heads{"Source", "Target", "Lag", value, "p", "Corrected p"};
  for (std::size_t i = 0; i < heads.size(); ++i)
    fmt::format_to(std::back_inserter(out), "<th scope=\"col\"{}>{}</th>", i < 2 ? "" : " class=\"num\"",
                   heads[i]);
  out += "</tr></thead><tbody>\n";
  for (const NetworkLink* link : links) {
    fmt::format_to(
        std::back_inserter(out),
        "<tr data-link=\"{}-{}\"{}><td>{}</td><td>{}</td><td class=\"num\" data-key=\"{}\">{}</td>",
        link->source, link->target, link->significant ? " class=\"significant\"" : "",
        escape(network.variables[link->source]), escape(network.variables[link->target]), link->lag,
        link->lag);
    for (double value : {link->value, link->p_value, link->p_adjusted})
      fmt::format_to(std::back_inserter(out), "<td class=\"num\" data-key=\"{}\">{}</td>", sort_key(value),
                     number(value));
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string settings(const NetworkDocument& network) {
  std::string out = "<dl class=\"settings\">\n";
  const auto row = [&](const std::string& label, const std::string& value) {
    if (!value.empty()) out += "<div><dt>" + escape(label) + "</dt><dd>" + escape(value) + "</dd></div>\n";
  };
  row("Kolmo", network.version);
  row("Device", network.device);
  row("Created", network.created);
  if (network.seconds) row("Computation", number(*network.seconds) + " s");
  nlohmann::json others = network.options;
  for (const auto& [key, label] : kLabels) {
    if (others.contains(key)) row(label, text_of(others[key]));
    others.erase(key);
  }
  for (const auto& [key, value] : others.items()) row(words_of(key), text_of(value));
  return out + "</dl>\n";
}

std::string target_table(const NetworkDocument& network) {
  if (network.targets.empty()) return "";
  std::string out = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Embedding of each target\"><table "
      "class=\"sortable\">"
      "<caption>Embedding of each target: past values used (history) and their spacing "
      "(delay)</caption><thead><tr>"
      "<th scope=\"col\">Target</th><th scope=\"col\" class=\"num\">History</th><th scope=\"col\" "
      "class=\"num\">Delay</th>"
      "<th scope=\"col\" class=\"num\">Samples</th><th scope=\"col\" class=\"num\">Active information "
      "storage ({})</th></tr></thead><tbody>\n",
      escape(network.units));
  for (const NetworkTarget& target : network.targets)
    fmt::format_to(
        std::back_inserter(out),
        "<tr><td>{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td>"
        "<td class=\"num\" data-key=\"{}\">{}</td></tr>\n",
        escape(network.variables[target.target]), target.history, target.tau, target.samples,
        sort_key(target.active_information_storage), number(target.active_information_storage));
  return out + "</tbody></table></div>\n";
}

}  // namespace kolmo::prose
