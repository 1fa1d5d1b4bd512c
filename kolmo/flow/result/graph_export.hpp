#pragma once

#include <string>

#include "kolmo/flow/result/network_document.hpp"

namespace kolmo {

/// Says which links a graph file holds.
enum class GraphLinks { significant, all };

/// The network as a directed graph. Every variable is a node, isolated ones too, with its name and, if there are groups, its
/// group. A link has value, weight (the value, 0 if that is negative or unknown), lag, lag_time (with a time step), p_value,
/// p_adjusted and significant. The graph has the units and the caution about pairwise links. Numbers read back as the same
/// doubles. The functions are pure. They throw the exceptions of checked().
///   graphml  GraphML 1.0, read by networkx, igraph, Gephi, yEd
///   dot      Graphviz; pen width grows with the value, and links that are not significant are dotted
std::string graphml(const NetworkDocument& network, GraphLinks links = GraphLinks::significant);
std::string dot(const NetworkDocument& network, GraphLinks links = GraphLinks::significant);

}  // namespace kolmo
