#include "kolmo/flow/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kolmo/base/error.hpp"
#include "kolmo/flow/markup.hpp"
#include "kolmo/flow/network_document.hpp"
#include "kolmo/flow/report_assets.hpp"
#include "kolmo/flow/report_figures.hpp"
#include "kolmo/flow/report_text.hpp"

namespace kolmo {
namespace {

using markup::escape;

constexpr std::size_t kOpenProfiles = 24;

std::string tile(const std::string& value, const std::string& label) {
  return "<div><dd>" + escape(value) + "</dd><dt>" + escape(label) + "</dt></div>\n";
}

std::string tiles(const NetworkDocument& network) {
  const std::size_t edges = network.edges().size();
  return tile(std::to_string(network.variables.size()),
              network.variables.size() == 1 ? "variable" : "variables") +
         tile(std::to_string(network.samples), "samples") +
         tile(std::to_string(network.links.size()), "pairs tested") +
         tile(std::to_string(edges), edges == 1 ? "significant edge" : "significant edges") +
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
  return fmt::format("\n<span class=\"key\"><span class=\"swatch {}\"></span>{}</span>", kind, meaning);
}

std::string graph_caption(const NetworkDocument& network) {
  const auto edges = network.edges();
  if (edges.empty()) return "No edge survived the test: the variables stand alone.";
  std::vector<bool> connected(network.variables.size());
  for (const NetworkLink* edge : edges) connected[edge->source] = connected[edge->target] = true;
  const bool some_alone = std::find(connected.begin(), connected.end(), false) != connected.end();
  return std::string(
             "Arrows run from source to target; wider and stronger-coloured arrows carry more transfer "
             "entropy") +
         (figures::shows_lags(network) ? ", and the number on an arrow is its lag in samples." : ".") +
         key("sender", "sends more than it receives") +
         key("receiver", "receives at least as much as it sends") +
         (some_alone ? key("alone", "no edge") : "");
}

std::string profiles(const NetworkDocument& network) {
  const auto edges = network.edges();
  if (edges.empty())
    return "<p class=\"empty\">No edge survived the test, so there is no lag profile to show.</p>";
  std::string out = "<p class=\"note\">Transfer entropy in " + escape(network.units) +
                    " at each lag in samples, strongest edge first; the lag of the edge is highlighted. The "
                    "dashed line is the "
                    "95\u202f% quantile of the largest value over lags in the surrogates. Each panel has its "
                    "own scale.</p>\n"
                    "<div class=\"panels\">\n";
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (i == kOpenProfiles)
      out +=
          fmt::format("</div>\n<details><summary>The other {} lag profiles</summary><div class=\"panels\">\n",
                      edges.size() - kOpenProfiles);
    out += profile_panel(network, *edges[i]);
  }
  return out + (edges.size() > kOpenProfiles ? "</div></details>\n" : "</div>\n");
}

std::string all_pairs(const NetworkDocument& network) {
  std::vector<const NetworkLink*> links;
  for (const NetworkLink& link : network.links) links.push_back(&link);
  std::stable_sort(links.begin(), links.end(), [](const NetworkLink* a, const NetworkLink* b) {
    return std::pair(a->source, a->target) < std::pair(b->source, b->target);
  });
  return prose::link_table(network, links,
                           fmt::format("All {} ordered pairs; significant ones in bold", links.size()));
}

}  // namespace

std::string html_report(const nlohmann::json& document, const ReportSeries& series) {
  require(series.names.size() == series.values.size(), "report: " + std::to_string(series.names.size()) +
                                                           " series names for " +
                                                           std::to_string(series.values.size()) + " series");
  const NetworkDocument network = read_network(document);
  // The sentences of the page rest on these; it states nothing that the document does not.
  for (const char* key : {"alpha", "max_lag", "surrogates"})
    require(!std::isnan(network.number_option(key)),
            std::string("network document: options.") + key + ": must be a number");
  for (const char* key : {"correction", "surrogate_type", "p_value_convention"})
    require(!network.text_option(key).empty(),
            std::string("network document: options.") + key + ": must be a string");
  const auto edges = network.edges();
  const std::string file = network.text_option("file");
  const std::string none = "<p class=\"empty\">No edge survived the test.</p>";
  return markup::fill(
      assets::report_html,
      {{"css", std::string(assets::report_css) + figures::palette_css()},
       {"js", std::string(assets::report_js)},
       {"title", file.empty() ? "Information flow" : "Information flow in " + escape(file)},
       {"layout", network.variables.size() <= 12 ? "pair" : "stack"},
       {"headline", prose::headline(network)},
       {"tiles", tiles(network)},
       {"meaning", prose::meaning(network)},
       {"cautions", prose::cautions(network)},
       {"graph", figures::network_graph(network)},
       {"graph_caption", graph_caption(network)},
       {"matrix", figures::heat_map(network)},
       {"units", escape(network.units)},
       {"all_pairs", all_pairs(network)},
       {"edges",
        edges.empty() ? none : prose::link_table(network, edges, "Significant edges, strongest first")},
       {"profiles", profiles(network)},
       {"series", series.values.empty() ? "<p class=\"empty\">No series were given to this report.</p>"
                                        : figures::series_plot(series)},
       {"command", escape(network.command)},
       {"settings", prose::settings(network)},
       {"targets", prose::target_table(network)},
       {"version", escape(network.version)},
       {"data", markup::script_json(network.source)}});
}

}  // namespace kolmo
