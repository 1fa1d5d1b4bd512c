#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace kolmo {

/// The network as a directed graph: every variable is a node (also isolated ones), every significant link an
/// edge with value, lag, p_value and p_adjusted. `network` is the document that `kolmo network --out` writes;
/// numbers read back as the same doubles. Pure functions. InvalidArgument if the document lacks a key.
std::string graphml(const nlohmann::json& network);  // GraphML 1.0, read by networkx, igraph, Gephi, yEd
std::string dot(const nlohmann::json& network);      // Graphviz; pen width grows with the value

}  // namespace kolmo
