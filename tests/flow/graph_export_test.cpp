#include "kolmo/flow/graph_export.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kolmo/base/error.hpp"
#include "tests/flow/network_mock.hpp"

namespace kolmo {
namespace {

nlohmann::json two_variables() {
  return {{"samples", 10},
          {"units", "nats"},
          {"variables", {"x", "y"}},
          {"links",
           {{{"source", 0},
             {"target", 1},
             {"value", 0.1 + 0.2},
             {"lag", 2},
             {"p_value", 0.005},
             {"p_adjusted", 0.01},
             {"significant", true}},
            {{"source", 1},
             {"target", 0},
             {"value", 0.0},
             {"lag", 1},
             {"p_value", 0.5},
             {"p_adjusted", 0.5},
             {"significant", false}}}}};
}

TEST(Graphml, HoldsEveryNodeAndTheSignificantEdge) {
  const std::string text = graphml(two_variables());
  EXPECT_NE(text.find("<node id=\"n0\"><data key=\"name\">x</data></node>"), std::string::npos);
  EXPECT_NE(text.find("<node id=\"n1\"><data key=\"name\">y</data></node>"), std::string::npos);
  EXPECT_NE(text.find("<edge source=\"n0\" target=\"n1\"><data key=\"value\">0.30000000000000004</data><data "
                      "key=\"lag\">2</data>"
                      "<data key=\"p_value\">0.005</data><data key=\"p_adjusted\">0.01</data></edge>"),
            std::string::npos);
  EXPECT_EQ(text.find("<edge source=\"n1\""), std::string::npos);
  EXPECT_EQ(text.substr(text.size() - 11), "</graphml>\n");
}

TEST(Graphml, EscapesText) {
  auto network = two_variables();
  network["variables"] = {"a<b>&\"'\x02", "\xff"};
  const std::string text = graphml(network);
  EXPECT_NE(text.find("a&lt;b&gt;&amp;&quot;&#39;\uFFFD</data>"), std::string::npos);
  EXPECT_NE(text.find("<data key=\"name\">\uFFFD</data>"), std::string::npos);
}

TEST(Graphml, UnknownNumbersAreNaN) {
  auto network = two_variables();
  network["links"][0]["p_value"] = nullptr;
  EXPECT_NE(graphml(network).find("<data key=\"p_value\">NaN</data>"), std::string::npos);
}

TEST(Dot, IsExact) {
  EXPECT_EQ(dot(two_variables()),
            "digraph kolmo {\n"
            "  graph [units=\"nats\"];\n"
            "  node [shape=ellipse];\n"
            "  n0 [label=\"x\"];\n"
            "  n1 [label=\"y\"];\n"
            "  n0 -> n1 [value=\"0.30000000000000004\", lag=2, p_value=\"0.005\", p_adjusted=\"0.01\", "
            "penwidth=5.00, "
            "label=\"0.3 (lag 2)\"];\n"
            "}\n");
}

TEST(Dot, EscapesText) {
  auto network = two_variables();
  network["variables"] = {"say \"hi\"\n", "back\\"};
  const std::string text = dot(network);
  EXPECT_NE(text.find("[label=\"say \\\"hi\\\"\\n\"]"), std::string::npos);
  EXPECT_NE(text.find("[label=\"back\\\\\"]"), std::string::npos);
}

TEST(GraphExport, CountsMatchTheDocument) {
  const auto network = mock::network(20, 0.1);
  std::size_t edges = 0;
  for (const auto& link : network["links"]) edges += link["significant"].get<bool>();
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count(graphml(network), "<edge "), edges);
  EXPECT_EQ(count(graphml(network), "<node "), 20u);
  EXPECT_EQ(count(dot(network), " -> "), edges);
}

TEST(GraphExport, RejectsOtherDocuments) {
  EXPECT_THROW(graphml(nlohmann::json::object()), InvalidArgument);
  EXPECT_THROW(dot({{"variables", {"x"}}, {"samples", 3}}), InvalidArgument);
}

}  // namespace
}  // namespace kolmo
