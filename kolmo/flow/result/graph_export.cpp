#include "kolmo/flow/result/graph_export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <vector>

#include "kolmo/flow/result/markup.hpp"

namespace kolmo {
namespace {

using markup::escape;
using markup::exact;

// A string of DOT in double quotes. DOT requires that quotes and backslashes are escaped. A line break is
// written as \n, because readers that go line by line fail on a raw one.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) >= 0x20 || c == '\t')
      out += c;
  }
  return out + '"';
}

std::vector<const NetworkLink*> chosen(const NetworkDocument& network, GraphLinks links) {
  if (links == GraphLinks::significant) return network.significant_links();
  std::vector<const NetworkLink*> all;
  for (const NetworkLink& link : network.links) all.push_back(&link);
  return all;
}

struct Key {
  const char *name, *owner, *type;
};

std::string key_elements(const NetworkDocument& network) {
  std::vector<Key> keys{{"units", "graph", "string"}, {"caution", "graph", "string"}};
  if (network.time_step) keys.push_back({"lag_unit", "graph", "string"});
  keys.insert(keys.end(), {{"name", "node", "string"}, {"label", "node", "string"}});
  if (!network.groups.names.empty()) keys.push_back({"group", "node", "string"});
  keys.insert(keys.end(),
              {{"value", "edge", "double"}, {"weight", "edge", "double"}, {"lag", "edge", "int"}});
  if (network.greedy()) keys.push_back({"lags", "edge", "string"});
  if (network.time_step) keys.push_back({"lag_time", "edge", "double"});
  keys.insert(
      keys.end(),
      {{"p_value", "edge", "double"}, {"p_adjusted", "edge", "double"}, {"significant", "edge", "boolean"}});
  std::string out;
  for (const Key& key : keys)
    fmt::format_to(std::back_inserter(out),
                   "  <key id=\"{0}\" for=\"{1}\" attr.name=\"{0}\" attr.type=\"{2}\"/>\n", key.name,
                   key.owner, key.type);
  return out;
}

std::string data(const char* key, const std::string& text) {
  return fmt::format("<data key=\"{}\">{}</data>", key, escape(text));
}
std::string data(const char* key, double value) { return data(key, exact(value)); }

double weight_of(const NetworkLink& link) { return link.value > 0 ? link.value : 0; }

}  // namespace

std::string graphml(const NetworkDocument& document, GraphLinks links) {
  const NetworkDocument network = checked(document);
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\""
      " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""
      " xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns"
      " http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n" +
      key_elements(network);
  out += "  <graph id=\"network\" edgedefault=\"directed\">\n    " + data("units", network.units) + "\n    " +
         data("caution", caution(network)) + "\n";
  if (network.time_step) out += "    " + data("lag_unit", network.time_step->unit) + "\n";
  for (std::size_t i = 0; i < network.variables.size(); ++i) {
    const std::string& name = network.variables[i];
    out += "    <node id=\"n" + std::to_string(i) + "\">" + data("name", name) + data("label", name);
    if (!network.groups.names.empty()) out += data("group", network.groups.names[network.groups.group_of[i]]);
    out += "</node>\n";
  }
  for (const NetworkLink* link : chosen(network, links)) {
    out += fmt::format("    <edge source=\"n{}\" target=\"n{}\">", link->source, link->target) +
           data("value", link->value) + data("weight", weight_of(*link)) +
           data("lag", std::to_string(link->lag));
    if (network.greedy()) out += data("lags", fmt::format("{}", fmt::join(link->lags, " ")));
    if (network.time_step) out += data("lag_time", network.time_step->step * link->lag);
    out += data("p_value", link->p_value) + data("p_adjusted", link->p_adjusted) +
           data("significant", link->significant ? "true" : "false") + "</edge>\n";
  }
  return out + "  </graph>\n</graphml>\n";
}

std::string dot(const NetworkDocument& document, GraphLinks links) {
  const NetworkDocument network = checked(document);
  const auto shown = chosen(network, links);
  double largest = 0;
  for (const NetworkLink* link : shown)
    if (link->value > largest) largest = link->value;
  std::string out;
  auto to = std::back_inserter(out);
  fmt::format_to(to, "digraph kolmo {{\n  graph [units={}, caution={}];\n  node [shape=ellipse];\n",
                 quoted(network.units), quoted(caution(network)));
  for (std::size_t i = 0; i < network.variables.size(); ++i) {
    fmt::format_to(to, "  n{} [label={}", i, quoted(network.variables[i]));
    if (!network.groups.names.empty())
      fmt::format_to(to, ", group={}", quoted(network.groups.names[network.groups.group_of[i]]));
    out += "];\n";
  }
  for (const NetworkLink* link : shown) {
    const double share = largest > 0 ? weight_of(*link) / largest : 0;
    fmt::format_to(to,
                   "  n{} -> n{} [value={}, lag={}, {}p_value={}, p_adjusted={}, significant={}, "
                   "penwidth={:.2f}, {}label={}];\n",
                   link->source, link->target, quoted(exact(link->value)), link->lag,
                   network.greedy() ? fmt::format("lags=\"{}\", ", fmt::join(link->lags, " ")) : "",
                   quoted(exact(link->p_value)), quoted(exact(link->p_adjusted)), link->significant,
                   1 + 4 * share, link->significant ? "" : "style=dotted, ",
                   quoted(fmt::format("{:.3g} ({})", link->value, network.at_lags(*link))));
  }
  return out + "}\n";
}

}  // namespace kolmo
