#include <fmt/format.h>

#include <cmath>

#include "kolmo/flow/report/html_table.hpp"
#include "kolmo/flow/report/text.hpp"
#include "kolmo/flow/result/link_table.hpp"

// The values that greedy searches chose, and the commands of links.
namespace kolmo::prose {
namespace {

using markup::escape;

void add_value(HtmlTable& table, const NetworkDocument& network, const NetworkTarget& target,
               const ChosenValue& c) {
  const NetworkRequest& r = network.request;
  const bool links = !network.only_storage();
  table.row(links ? fmt::format(" data-link=\"{}-{}\"", c.variable, target.target) : "");
  table.text(network.variables[c.variable]);
  if (links) table.text(network.variables[target.target]);
  table.value(c.lag, network.lag_text(c.lag));
  table.value(c.value);
  table.value(c.p_value, p_label(p_text(c.p_value, c.surrogates, r.p_value), c.p_value));
  table.value(c.given_all);
  const std::int64_t draws = r.greedy.permutations_max_seq.value_or(0);
  table.value(c.p_given_all, p_label(p_text(c.p_given_all, draws, r.p_value), c.p_given_all));
}

/// The values of links that the page shows, or without links those of all variables.
std::string values_table(const NetworkDocument& network, const std::vector<const NetworkLink*>& links) {
  HtmlTable table("values",
                  "Each chosen value: what it added to those that had joined before, and what it tells given "
                  "all others that were chosen");
  if (network.only_storage())
    table.head("Variable", false);
  else
    table.head("Source", false), table.head("Target", false);
  const std::string units = " (" + network.units + ")";
  for (const std::string& text : {std::string("Lag"), "Added" + units, std::string("p"),
                                  "Given all others" + units, std::string("p given all others")})
    table.head(text, true);
  if (network.only_storage())
    for (const NetworkTarget& t : network.targets)
      for (const ChosenValue& c : t.own_past) add_value(table, network, t, c);
  for (const NetworkLink* link : links)
    for (const NetworkTarget& t : network.targets)
      if (t.target == link->target)
        for (const NetworkSearch& s : t.searches)
          for (const ChosenValue& c : s.chosen)
            if (c.variable == link->source) add_value(table, network, t, c);
  return table.end();
}

}  // namespace

std::string values_details(const NetworkDocument& network, const std::vector<const NetworkLink*>& links) {
  std::string commands;
  for (const NetworkLink* link : links)
    if (!link->command.empty())
      commands +=
          fmt::format("<dt>{} \u2192 {}, {}</dt><dd><pre tabindex=\"0\">{}</pre></dd>\n",
                      escape(network.variables[link->source]), escape(network.variables[link->target]),
                      escape(network.at_lags(*link)), escape(link->command));
  std::string out = "<details><summary>Each chosen value with its p</summary>\n" +
                    values_table(network, links) + "</details>\n";
  if (!commands.empty())
    out +=
        "<details><summary>The command that estimates each link alone</summary>\n<dl class=\"commands\">\n" +
        commands + "</dl>\n</details>\n";
  return out;
}

}  // namespace kolmo::prose
