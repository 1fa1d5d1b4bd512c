#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kolmo/flow/report/html_table.hpp"
#include "kolmo/flow/report/text.hpp"
#include "kolmo/flow/result/link_table.hpp"
#include "kolmo/flow/result/markup.hpp"

namespace kolmo::prose {
namespace {

using markup::escape;

}  // namespace

std::string link_table(const NetworkDocument& network, const std::vector<const NetworkLink*>& links,
                       const std::string& name, const std::string& caption) {
  HtmlTable table(name, caption);
  const std::string units = " (" + network.units + ")";
  table.head("Source", false), table.head("Target", false);
  table.head(network.greedy() ? "Lags" : "Lag", !network.greedy()), table.head("TE" + units, true);
  if (network.compared())
    for (const std::string& text : {"Bias-corrected" + units, std::string("z"), "Null 95\u202f%" + units})
      table.head(text, true);
  table.head("p", true), table.head("Adjusted p", true);
  for (const NetworkLink* link : links) {
    table.row(fmt::format(" data-link=\"{}-{}\"{}", link->source, link->target,
                          link->significant ? " class=\"significant\"" : ""));
    table.text(network.variables[link->source]), table.text(network.variables[link->target]);
    if (network.greedy())
      table.text(network.lags_text(link->lags));
    else
      table.value(link->lag, network.lag_text(link->lag));
    table.value(link->value);
    if (network.compared())
      for (const double v : {bias_corrected(*link), z_score(*link), link->surrogate_q95}) table.value(v);
    table.value(link->p_value, p_label(p_text(network, *link), link->p_value)), table.value(link->p_adjusted);
  }
  return table.end();
}

std::string totals_table(const NetworkDocument& network) {
  const bool grouped = !network.groups.names.empty();
  HtmlTable table("totals", std::string("Sent and received by each variable: sums of the ") +
                                (network.compared() ? "bias-corrected " : "") +
                                "transfer entropy over significant links");
  const std::string units = " (" + network.units + ")";
  table.head("Variable", false);
  if (grouped) table.head("Group", false);
  for (const std::string& text : {"Sent" + units, std::string("Links sent"), "Received" + units,
                                  std::string("Links received"), "Sent less received" + units})
    table.head(text, true);
  const Totals totals(network);
  for (std::size_t i = 0; i < network.variables.size(); ++i) {
    table.row();
    table.text(network.variables[i]);
    if (grouped) table.text(network.groups.names[network.groups.group_of[i]]);
    table.value(totals.flow[i][0]), table.count(totals.links[i][0]);
    table.value(totals.flow[i][1]), table.count(totals.links[i][1]);
    table.value(totals.flow[i][0] - totals.flow[i][1]);
  }
  return table.end();
}

namespace {

/// "x1:2, x3:1"
std::string values_text(const NetworkDocument& network, const std::vector<ChosenValue>& values) {
  std::string out;
  for (const ChosenValue& c : values)
    out += fmt::format("{}{}:{}", out.empty() ? "" : ", ", network.variables[c.variable], c.lag);
  return out.empty() ? "none" : out;
}

std::string chosen_table(const NetworkDocument& network) {
  HtmlTable table(
      "chosen",
      "Values in the past that were chosen for each target, as variable:lag in the order in which they "
      "joined, and what all those of sources tell together");
  for (const char* text : {"Target", "Own past", "Sources", "Removed again"}) table.head(text, false);
  for (const std::string& text :
       {std::string("Samples"), "Active information storage (" + network.units + ")",
        "All sources (" + network.units + ")", std::string("p of no source")})
    table.head(text, true);
  for (const NetworkTarget& target : network.targets) {
    std::vector<ChosenValue> sources;
    std::string removed;
    double joint = 0, p = 1;
    for (const NetworkSearch& s : target.searches) {
      sources.insert(sources.end(), s.chosen.begin(), s.chosen.end());
      for (const RemovedValue& r : s.removed)
        removed += fmt::format("{}{}:{} ({})", removed.empty() ? "" : ", ", network.variables[r.variable],
                               r.lag, r.test);
      joint += s.joint, p = std::min(p, s.first_p);
    }
    const bool one = target.searches.size() == 1;
    table.row();
    table.text(network.variables[target.target]), table.text(values_text(network, target.own_past));
    table.text(values_text(network, sources)), table.text(removed.empty() ? "none" : removed);
    table.count(target.samples), table.value(target.active_information_storage);
    table.value(one ? joint : std::nan("")), table.value(one ? p : std::nan(""));
  }
  return table.end();
}

}  // namespace

std::string target_table(const NetworkDocument& network) {
  if (network.targets.empty()) return "";
  if (network.greedy()) return chosen_table(network);
  HtmlTable table("embeddings",
                  "Embedding of each target: past values used (history), the rows between them "
                  "(tau), and the embedded rows (samples)");
  table.head("Target", false);
  for (const std::string& text : {std::string("History"), std::string("Tau"), std::string("Samples"),
                                  "Active information storage (" + network.units + ")"})
    table.head(text, true);
  for (const NetworkTarget& target : network.targets) {
    table.row();
    table.text(network.variables[target.target]);
    table.count(target.history), table.count(target.tau), table.count(target.samples);
    table.value(target.active_information_storage);
  }
  return table.end();
}

}  // namespace kolmo::prose
