#include "kolmo/flow/graph_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kolmo/flow/markup.hpp"
#include "kolmo/flow/network_document.hpp"

namespace kolmo {
namespace {

using markup::escape;
using markup::exact;

// A DOT string in double quotes. Inside it only the quote and the backslash need care; a raw newline would be
// a syntax trap for line-based readers, so it becomes the escape \n.
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

}  // namespace

std::string graphml(const nlohmann::json& document) {
  const NetworkDocument network = read_network(document);
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\""
      " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""
      " xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns"
      " http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n"
      "  <key id=\"units\" for=\"graph\" attr.name=\"units\" attr.type=\"string\"/>\n"
      "  <key id=\"name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n"
      "  <key id=\"value\" for=\"edge\" attr.name=\"value\" attr.type=\"double\"/>\n"
      "  <key id=\"lag\" for=\"edge\" attr.name=\"lag\" attr.type=\"int\"/>\n"
      "  <key id=\"p_value\" for=\"edge\" attr.name=\"p_value\" attr.type=\"double\"/>\n"
      "  <key id=\"p_adjusted\" for=\"edge\" attr.name=\"p_adjusted\" attr.type=\"double\"/>\n";
  auto to = std::back_inserter(out);
  fmt::format_to(to, "  <graph id=\"network\" edgedefault=\"directed\">\n    <data key=\"units\">{}</data>\n",
                 escape(network.units));
  for (std::size_t i = 0; i < network.variables.size(); ++i)
    fmt::format_to(to, "    <node id=\"n{}\"><data key=\"name\">{}</data></node>\n", i,
                   escape(network.variables[i]));
  for (const NetworkLink* edge : network.edges())
    fmt::format_to(
        to,
        "    <edge source=\"n{}\" target=\"n{}\"><data key=\"value\">{}</data><data key=\"lag\">{}</data>"
        "<data key=\"p_value\">{}</data><data key=\"p_adjusted\">{}</data></edge>\n",
        edge->source, edge->target, exact(edge->value), edge->lag, exact(edge->p_value),
        exact(edge->p_adjusted));
  return out + "  </graph>\n</graphml>\n";
}

std::string dot(const nlohmann::json& document) {
  const NetworkDocument network = read_network(document);
  const auto edges = network.edges();
  const double largest = edges.empty() ? 0 : std::max(edges.front()->value, 0.0);
  std::string out;
  auto to = std::back_inserter(out);
  fmt::format_to(to, "digraph kolmo {{\n  graph [units={}];\n  node [shape=ellipse];\n",
                 quoted(network.units));
  for (std::size_t i = 0; i < network.variables.size(); ++i)
    fmt::format_to(to, "  n{} [label={}];\n", i, quoted(network.variables[i]));
  for (const NetworkLink* edge : edges) {
    const double share = largest > 0 && edge->value > 0 ? edge->value / largest : 0;
    fmt::format_to(to,
                   "  n{} -> n{} [value={}, lag={}, p_value={}, p_adjusted={}, penwidth={:.2f}, label={}];\n",
                   edge->source, edge->target, quoted(exact(edge->value)), edge->lag,
                   quoted(exact(edge->p_value)), quoted(exact(edge->p_adjusted)), 1 + 4 * share,
                   quoted(fmt::format("{:.3g} (lag {})", edge->value, edge->lag)));
  }
  return out + "}\n";
}

}  // namespace kolmo
