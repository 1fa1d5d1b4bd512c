#include "kolmo/flow/result/graph_export.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kolmo/base/error.hpp"
#include "tests/flow/network_mock.hpp"

namespace kolmo {
namespace {

NetworkDocument two_variables() {
  NetworkDocument d;
  d.rows = 10;
  d.variables = {"x", "y"};
  d.links = {{0, 1, 0.1 + 0.2, 2, 0.005, 0.01, true}, {1, 0, 0.0, 1, 0.5, 0.5, false}};
  return d;
}

TEST(Graphml, HoldsEveryNodeAndTheSignificantEdge) {
  const std::string text = graphml(two_variables());
  EXPECT_NE(text.find("<node id=\"n0\"><data key=\"name\">x</data><data key=\"label\">x</data></node>"),
            std::string::npos);
  EXPECT_NE(text.find("<node id=\"n1\"><data key=\"name\">y</data><data key=\"label\">y</data></node>"),
            std::string::npos);
  EXPECT_NE(text.find("<edge source=\"n0\" target=\"n1\"><data key=\"value\">0.30000000000000004</data><data "
                      "key=\"weight\">0.30000000000000004</data><data key=\"lag\">2</data>"
                      "<data key=\"p_value\">0.005</data><data key=\"p_adjusted\">0.01</data>"
                      "<data key=\"significant\">true</data></edge>"),
            std::string::npos);
  EXPECT_EQ(text.find("<edge source=\"n1\""), std::string::npos);
  EXPECT_EQ(text.substr(text.size() - 11), "</graphml>\n");
}

TEST(Graphml, HoldsAllPairsByChoice) {
  auto network = two_variables();
  network.links[1].value = -0.5;
  const std::string text = graphml(network, GraphLinks::all);
  EXPECT_NE(text.find("<edge source=\"n1\" target=\"n0\"><data key=\"value\">-0.5</data><data "
                      "key=\"weight\">0</data><data key=\"lag\">1</data><data key=\"p_value\">0.5</data>"
                      "<data key=\"p_adjusted\">0.5</data><data key=\"significant\">false</data></edge>"),
            std::string::npos);
  EXPECT_NE(dot(network, GraphLinks::all).find("significant=false, penwidth=1.00, style=dotted"),
            std::string::npos);
}

TEST(Graphml, HasCautionLagTimeAndGroups) {
  auto network = two_variables();
  EXPECT_NE(graphml(network).find("<data key=\"caution\">Each pair is taken by itself"), std::string::npos);
  EXPECT_EQ(graphml(network).find("lag_time"), std::string::npos);
  network.time_step = TimeStep{0.5, "h<"};
  network.groups = {{"<g>"}, {0, 0}};
  const std::string text = graphml(network);
  EXPECT_NE(text.find("<data key=\"lag_unit\">h&lt;</data>"), std::string::npos);
  EXPECT_NE(text.find("<data key=\"lag_time\">1</data>"), std::string::npos);
  EXPECT_NE(text.find("<data key=\"group\">&lt;g&gt;</data>"), std::string::npos);
}

TEST(Graphml, EscapesText) {
  auto network = two_variables();
  network.variables = {"a<b>&\"'\x02", "\xff"};
  const std::string text = graphml(network);
  EXPECT_NE(text.find("a&lt;b&gt;&amp;&quot;&#39;\uFFFD</data>"), std::string::npos);
  EXPECT_NE(text.find("<data key=\"name\">\uFFFD</data>"), std::string::npos);
}

TEST(Graphml, UnknownNumbersAreNaN) {
  auto network = two_variables();
  network.links[0].p_value = std::nan("");
  EXPECT_NE(graphml(network).find("<data key=\"p_value\">NaN</data>"), std::string::npos);
}

TEST(Dot, IsExact) {
  EXPECT_EQ(
      dot(two_variables()),
      "digraph kolmo {\n"
      "  graph [units=\"nats\", caution=\"Each pair is taken by itself: a link may be indirect, through a "
      "third "
      "variable, or come from a common driver. Variables that are known to matter can be conditioned on, by "
      "the option "
      "given, and the method multivariate chooses them. Transfer entropy is evidence of prediction, not by "
      "itself of cause.\"];\n"
      "  node [shape=ellipse];\n"
      "  n0 [label=\"x\"];\n"
      "  n1 [label=\"y\"];\n"
      "  n0 -> n1 [value=\"0.30000000000000004\", lag=2, p_value=\"0.005\", p_adjusted=\"0.01\", "
      "significant=true, "
      "penwidth=5.00, "
      "label=\"0.3 (lag 2)\"];\n"
      "}\n");
}

TEST(Dot, EscapesText) {
  auto network = two_variables();
  network.variables = {"say \"hi\"\n", "back\\"};
  const std::string text = dot(network);
  EXPECT_NE(text.find("[label=\"say \\\"hi\\\"\\n\"]"), std::string::npos);
  EXPECT_NE(text.find("[label=\"back\\\\\"]"), std::string::npos);
}

TEST(GraphExport, HoldsAllLagsThatWereChosen) {
  auto network = two_variables();
  EXPECT_EQ(graphml(network).find("\"lags\""), std::string::npos);
  network.request.method = NetworkMethod::multivariate;
  network.links[0].lags = {1, 2, 3};
  const std::string text = graphml(network, GraphLinks::all);
  EXPECT_NE(text.find("<key id=\"lags\" for=\"edge\" attr.name=\"lags\" attr.type=\"string\"/>"),
            std::string::npos);
  EXPECT_NE(text.find("<data key=\"lag\">2</data><data key=\"lags\">1 2 3</data>"), std::string::npos);
  EXPECT_NE(text.find("<data key=\"lag\">1</data><data key=\"lags\"></data>"), std::string::npos);
  EXPECT_NE(dot(network).find("lag=2, lags=\"1 2 3\", "), std::string::npos);
  EXPECT_NE(dot(network).find("label=\"0.3 (lags 1, 2, 3)\""), std::string::npos);
}

TEST(GraphExport, CountsMatchTheDocument) {
  const auto network = mock::network(20, 0.1);
  std::size_t edges = 0;
  for (const NetworkLink& link : network.links) edges += link.significant;
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count(graphml(network), "<edge "), edges);
  EXPECT_EQ(count(graphml(network), "<node "), 20u);
  EXPECT_EQ(count(dot(network), " -> "), edges);
}

TEST(GraphExport, RejectsLinksOfUnknownVariables) {
  auto network = two_variables();
  network.links[0].target = 2;
  EXPECT_THROW(graphml(network), InvalidArgument);
  EXPECT_THROW(dot(network), InvalidArgument);
}

}  // namespace
}  // namespace kolmo
