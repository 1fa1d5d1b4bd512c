#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kolmo/flow/report/figures.hpp"
#include "kolmo/flow/report/html_table.hpp"
#include "kolmo/flow/report/text.hpp"
#include "kolmo/flow/result/markup.hpp"
#include "kolmo/flow/result/storage_table.hpp"

// The report of networks of active information storage alone, which have no links.
namespace kolmo::prose {
namespace {

using markup::escape;
using markup::number;

std::string storage_table(const NetworkDocument& network) {
  HtmlTable table("storage",
                  "The own past of each variable: the lags that were chosen, in rows, what their values tell "
                  "together about the next value, and the p of that");
  for (const char* text : {"Variable", "Lags", "Removed again"}) table.head(text, false);
  for (const std::string& text :
       {std::string("Samples"), "Storage (" + network.units + ")", std::string("p")})
    table.head(text, true);
  for (const NetworkTarget& t : network.targets) {
    std::string removed;
    for (const NetworkSearch& s : t.searches)
      for (const RemovedValue& r : s.removed)
        removed += fmt::format("{}{} ({})", removed.empty() ? "" : ", ", r.lag, r.test);
    table.row(t.own_past.empty() ? "" : " class=\"significant\"");
    table.text(network.variables[t.target]), table.text(network.lags_text(own_lags(t)));
    table.text(removed.empty() ? "none" : removed), table.count(t.samples);
    table.value(t.active_information_storage);
    const StorageTest test = storage_test(network, t);
    table.value(test.p_value, p_label(test.text, test.p_value));
  }
  return table.end();
}

}  // namespace

std::string storage_headline(const NetworkDocument& network) {
  const std::string alpha = number(network.request.alpha);
  const std::size_t all = network.targets.size(), stored = storing_variables(network);
  if (stored == 0)
    return fmt::format(
        "<strong>No own past was chosen</strong> at \u03b1 = {}, of {} variable{}: no past value is known to "
        "tell "
        "about the next value of its variable.",
        alpha, all, all == 1 ? "" : "s");
  const NetworkTarget* most = nullptr;
  for (const NetworkTarget& t : network.targets)
    if (!t.own_past.empty() && (!most || t.active_information_storage > most->active_information_storage))
      most = &t;
  const std::vector<int> lags = own_lags(*most);
  const StorageTest test = storage_test(network, *most);
  return fmt::format(
      "<strong>{} of {}</strong> variable{} store{} information at \u03b1 = {}. {} stores the most: {} {} at "
      "lag{} {}, p {}{}.",
      stored, all, all == 1 ? "" : "s", stored == 1 ? "s" : "", alpha,
      escape(network.variables[most->target]), number(most->active_information_storage),
      escape(network.units), lags.size() == 1 ? "" : "s", escape(network.lags_text(lags)),
      test.at_floor ? "" : "= ", p_label(test.text, test.p_value));
}

std::string storage_meaning(const NetworkDocument& network) {
  const NetworkRequest& r = network.request;
  const std::string test =
      network.analytic()
          ? "is that of an F test"
          : fmt::format("compares what they tell with that in {} surrogates {}",
                        r.greedy.permutations_omnibus.value_or(0),
                        of_own_past(std::string(kind_of(r.estimator.surrogate_type).in_report)));
  return fmt::format(
      "<p>Active information storage, measured in {}, is what a variable\u2019s own past tells about its "
      "next "
      "value.</p>\n"
      "<p>A value in the past is chosen where the null hypothesis that it adds nothing to those chosen "
      "before "
      "is rejected at \u03b1 = {}. The p\u2011value of a variable is that of all its chosen values together: "
      "it {}{}. Where no value was chosen, it is that of the value that was tested first.</p>",
      escape(network.units), number(r.alpha), test,
      network.compared() ? ", p\u00a0=\u00a0" + escape(p_value_formula(r.p_value)) : "");
}

std::string storage_section(const NetworkDocument& network) {
  std::string out =
      "<section aria-labelledby=\"storage\">\n<h2 id=\"storage\">Active information storage</h2>\n" +
      storage_table(network) + (storing_variables(network) ? values_details(network, {}) : "");
  if (const std::string svg = figures::time_graph(network); !svg.empty())
    out += "<figure data-file=\"time_graph\">\n<div class=\"scroll\">" + svg +
           "</div>\n<figcaption>The own past in time: a column is a row of the data, and arrows run from the "
           "chosen values to the next value of their variable.</figcaption>\n</figure>\n";
  return out + "</section>\n";
}

}  // namespace kolmo::prose
