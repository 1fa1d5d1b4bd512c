#include "kolmo/flow/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kolmo/base/error.hpp"
#include "kolmo/flow/report/assets.hpp"
#include "kolmo/flow/report/data.hpp"
#include "kolmo/flow/report/figures.hpp"
#include "kolmo/flow/report/text.hpp"
#include "kolmo/flow/result/groups.hpp"
#include "kolmo/flow/result/markup.hpp"
#include "kolmo/flow/result/storage_table.hpp"

namespace kolmo {
namespace {

using markup::escape;

constexpr std::size_t kOpenProfiles = 24, kMostProfiles = 200;

const char* no_link(const NetworkDocument& network) {
  return network.tested() ? "No link survived the test" : "Nothing was tested";
}

std::string tile(const std::string& value, const std::string& label) {
  return "<div><dd>" + escape(value) + "</dd><dt>" + escape(label) + "</dt></div>\n";
}

std::string tiles_of_links(const NetworkDocument& network) {
  const std::size_t links = network.significant_links().size();
  return tile(std::to_string(network.links.size()), network.tested() ? "pairs tested" : "pairs, not tested") +
         (network.tested()
              ? tile(std::to_string(links), links == 1 ? "significant link" : "significant links")
              : "");
}

std::string tiles(const NetworkDocument& network) {
  return tile(std::to_string(network.variables.size()),
              network.variables.size() == 1 ? "variable" : "variables") +
         tile(std::to_string(network.rows), "rows") +
         (network.only_storage() ? tile(std::to_string(storing_variables(network)), "with a chosen own past")
                                 : tiles_of_links(network)) +
         (network.device.empty() ? "" : tile(network.device, "device"));
}

std::string profile_panel(const NetworkDocument& network, const NetworkLink& link) {
  const std::string name =
      escape(network.variables[link.source]) + " \u2192 " + escape(network.variables[link.target]);
  return fmt::format(
      "<figure class=\"panel\" data-link=\"{}-{}\"><figcaption title=\"{}\">{}</figcaption>{}</figure>\n",
      link.source, link.target, name, name, figures::lag_profile(network, link));
}

std::string key(const char* kind, const char* meaning) {
  return fmt::format("\n<span class=\"key graph-key\"><span class=\"swatch {}\"></span>{}</span>", kind,
                     meaning);
}

std::string group_key(const NetworkDocument& network) {
  std::string out;
  const auto& groups = network.groups.names;
  for (std::size_t g = 0; g < groups.size(); ++g)
    out += fmt::format("\n<span class=\"key\"><span class=\"swatch g{}\"></span>{}</span>",
                       g % figures::kGroupColours, escape(groups[g]));
  return out;
}

std::string lag_note(const NetworkDocument& network) {
  return network.time_step
             ? fmt::format(" (a row is {:.6g} {})", network.time_step->step, escape(network.time_step->unit))
             : "";
}

std::string lag_sentence(const NetworkDocument& network) {
  const std::size_t lags = figures::shown_lags(network);
  if (lags == 0) return ".";
  return std::string(", and the number on an arrow") +
         (lags < network.significant_links().size() ? ", for the strongest," : "") + " is its lag in rows" +
         lag_note(network) + ".";
}

std::string graph_caption(const NetworkDocument& network) {
  const auto links = network.significant_links();
  if (!network.tested()) return "Nothing was tested, so that no link is drawn.";
  if (links.empty()) return "No link survived the test: the variables stand alone.";
  std::vector<bool> connected(network.variables.size());
  for (const NetworkLink* link : links) connected[link->source] = connected[link->target] = true;
  const bool some_alone = std::find(connected.begin(), connected.end(), false) != connected.end();
  const std::string of_all = figures::shown_links(network) < links.size()
                                 ? fmt::format(" These are the {} strongest of {} links.",
                                               figures::shown_links(network), links.size())
                                 : "";
  return std::string("Arrows run from source to target; wider and stronger-coloured arrows carry more ") +
         (network.compared() ? "bias-corrected " : "") + "transfer entropy" + lag_sentence(network) + of_all +
         (network.groups.names.empty() ? key("sender", "sends more than it receives") +
                                             key("receiver", "receives at least as much as it sends") +
                                             (some_alone ? key("alone", "no link") : "")
                                       : group_key(network));
}

/// The figure of variables at lags, or nothing if there is none.
std::string time_graph(const NetworkDocument& network) {
  const std::string svg = figures::time_graph(network);
  if (svg.empty()) return "";
  return "<figure data-file=\"time_graph\">\n<div class=\"scroll\">" + svg +
         "</div>\n<figcaption>The same links in time: a column is a row of the data" + lag_note(network) +
         ", and arrows run from past values to the next value of the target. " +
         (network.greedy()
              ? "Every lag that was chosen has an arrow; grey ones are of the target\u2019s own past."
              : "A link has an arrow from its strongest lag.") +
         "</figcaption>\n</figure>\n";
}

std::string matrix_caption(const NetworkDocument& network) {
  const bool large = network.variables.size() > kMostDrawnVariables;
  std::string out =
      network.greedy()
          ? "Information of all chosen lags; where none was chosen, the largest of the last test. Rows "
            "send, columns receive"
          : "Largest transfer entropy over the lags. Rows send, columns receive";
  if (network.tested())
    out += large ? "; pairs that are not significant are faded."
                 : "; pairs that are not significant are faded, and <span class=\"key\"><span "
                   "class=\"dot\"></span>marks significant ones.</span>";
  else
    out += ".";
  out += " Choose a pair to see its lag profile.";
  return out + group_key(network);
}

std::string profiles(const NetworkDocument& network) {
  const auto links = network.significant_links();
  if (links.empty())
    return fmt::format("<p class=\"empty\">{}; any pair can be chosen in the matrix.</p>", no_link(network));
  const bool large = network.variables.size() > kMostDrawnVariables;
  const std::size_t shown = std::min(links.size(), large ? kOpenProfiles : kMostProfiles);
  std::string out =
      "<p class=\"note\">Transfer entropy in " + escape(network.units) + " at each lag in rows" +
      lag_note(network) + ", strongest link first; the lag of the link is highlighted. " +
      (!network.compared() ? ""
       : network.greedy()
           ? "The dashed line is the 95\u202f% quantile of the surrogates of the link\u2019s last test. "
           : "The dashed line is the 95\u202f% quantile of the largest value over lags in the "
             "surrogates. ") +
      "Each panel has its own scale.";
  if (shown < links.size()) out += fmt::format(" These are {} of {} links.", shown, links.size());
  out += "</p>\n<div class=\"panels\">\n";
  for (std::size_t i = 0; i < shown; ++i) {
    if (i == kOpenProfiles)
      out +=
          fmt::format("</div>\n<details><summary>The next {} lag profiles</summary><div class=\"panels\">\n",
                      shown - kOpenProfiles);
    out += profile_panel(network, *links[i]);
  }
  return out + (shown > kOpenProfiles ? "</div></details>\n" : "</div>\n");
}

std::string links_section(const NetworkDocument& network) {
  auto links = network.significant_links();
  if (links.empty()) return fmt::format("<p class=\"empty\">{}.</p>", no_link(network));
  const std::size_t all = links.size();
  const std::size_t most = network.variables.size() > kMostDrawnVariables ? 200 : 1000;
  links.resize(std::min(all, most));
  return prose::link_table(network, links, "links",
                           all == links.size()
                               ? "Significant links, strongest first"
                               : fmt::format("The {} strongest of {} significant links", most, all)) +
         (network.greedy() ? prose::values_details(network, links) : "");
}

std::string all_pairs(const NetworkDocument& network) {
  if (network.variables.size() > kMostDrawnVariables || network.links.empty()) return "";
  std::vector<const NetworkLink*> links;
  for (const NetworkLink& link : network.links) links.push_back(&link);
  std::stable_sort(links.begin(), links.end(), [](const NetworkLink* a, const NetworkLink* b) {
    return std::pair(a->source, a->target) < std::pair(b->source, b->target);
  });
  return "<details><summary>Matrix as a table</summary>\n" +
         prose::link_table(network, links, "pairs",
                           fmt::format("All {} ordered pairs{}", links.size(),
                                       network.tested() ? "; significant ones in bold" : "")) +
         "</details>\n";
}

/// The place where the script lists the pairs of a large network.
std::string browser(const NetworkDocument& network) {
  return network.variables.size() > kMostDrawnVariables ? "<div id=\"pairs\"></div>\n" : "";
}

std::string series_section(const ReportSeries& series) {
  if (series.values.empty()) return "<p class=\"empty\">No series were given to this report.</p>";
  std::string figure = "<figure data-file=\"series\"><div class=\"scroll\">" + figures::series_plot(series) +
                       "</div></figure>";
  if (series.values.size() <= kMostDrawnVariables) return figure;
  return fmt::format("<details><summary>The {} series</summary>\n{}</details>", series.values.size(), figure);
}

const char* subject(const NetworkDocument& network) {
  return network.only_storage() ? "Information storage" : "Information flow";
}

/// The heading, in which a path may only be broken behind a slash.
std::string heading(const NetworkDocument& network) {
  const std::string& file = network.file;
  if (file.empty()) return subject(network);
  std::string out = std::string(subject(network)) + " in ";
  for (std::size_t from = 0, to = 0; from < file.size(); from = to) {
    to = file.find('/', from);
    to = to == std::string::npos ? file.size() : to + 1;
    out += "<span class=\"whole\">" + escape(file.substr(from, to - from)) + "</span>";
  }
  return out;
}

// Whether tables fit in two columns: names beside each other must not be cut or small.
bool fits_in_columns(const NetworkDocument& network) {
  return network.variables.size() <= 12 &&
         std::all_of(network.variables.begin(), network.variables.end(),
                     [](const std::string& name) { return markup::code_points(name) <= 16; });
}

/// The sections from the graph to the profiles of links.
std::string sections_of_links(const NetworkDocument& network) {
  const bool large = network.variables.size() > kMostDrawnVariables;
  return markup::fill(assets::links_html,
                      {{"layout", fits_in_columns(network) ? "pair" : "stack"},
                       {"graph", figures::network_graph(network)},
                       {"graph_caption", graph_caption(network)},
                       {"time_graph", time_graph(network)},
                       {"matrix", large ? figures::canvas_matrix(network) : figures::heat_map(network)},
                       {"matrix_caption", matrix_caption(network)},
                       {"browser", browser(network)},
                       {"all_pairs", all_pairs(network)},
                       {"links", links_section(network)},
                       {"totals", network.tested() ? prose::totals_table(network)
                                                   : "<p class=\"empty\">Nothing was tested.</p>"},
                       {"profiles", profiles(network)}});
}

}  // namespace

std::string html_report(const NetworkDocument& document, const ReportSeries& series) {
  require(series.names.size() == series.values.size(), "report: " + std::to_string(series.names.size()) +
                                                           " series names for " +
                                                           std::to_string(series.values.size()) + " series");
  const NetworkDocument valid = checked(document);
  const NetworkDocument network = reordered(valid, grouped_order(valid));
  return markup::fill(
      assets::report_html,
      {{"css", std::string(assets::report_css) + figures::palette_css()},
       {"js", std::string(assets::data_js) + std::string(assets::profile_js) +
                  std::string(assets::matrix_js) + std::string(assets::report_js) +
                  std::string(assets::save_js)},
       {"title", subject(network) + (network.file.empty() ? "" : " in " + escape(network.file))},
       {"heading", heading(network)},
       {"headline", prose::headline(network)},
       {"tiles", tiles(network)},
       {"meaning", prose::meaning(network)},
       {"cautions", prose::cautions(network)},
       {"warnings", prose::warnings(network)},
       {"results", network.only_storage() ? prose::storage_section(network) : sections_of_links(network)},
       {"series", series_section(series)},
       {"methods", prose::methods(network)},
       {"command", escape(network.command)},
       {"settings", prose::settings(network)},
       {"targets", network.only_storage() ? "" : prose::target_table(network)},
       {"version", escape(network.version)},
       {"data", markup::script_json(report_data(network))}});
}

}  // namespace kolmo
