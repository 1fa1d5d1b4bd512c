#include "kolmo/flow/result/link_table.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kolmo/flow/result/network_json.hpp"
#include "kolmo/flow/test/statistics.hpp"
#include "kolmo/io/csv_cell.hpp"

namespace kolmo {
namespace {

// A value of 0.5 whose surrogates have mean 0.25 and deviation 0.125: the bias-corrected value is 0.25, and
// z = 2. With 3 surrogates the floor of p is 1/4.
NetworkDocument tiny() {
  NetworkDocument d;
  d.rows = 10;
  d.variables = {"x", "y, \"z\""};
  d.request.estimator.surrogates = 3;
  d.links = {{0, 1, 0.5, 2, 0.25, 0.5, true, {{1, 0.1}, {2, 0.5}}, 0.25, 0.125, 0.375},
             {1, 0, -0.125, 1, 1, 1, false, {{1, -0.125}, {2, -0.25}}, 0.125, 0, 0.25}};
  return d;
}

TEST(LinkTable, HandCheckedCsv) {
  EXPECT_EQ(link_table_csv(tiny()),
            "source,target,lag,value,bias_corrected,z,surrogate_mean,surrogate_std,surrogate_q95,p_value,"
            "p_at_floor,p_adjusted,significant,surrogates,units\n"
            "x,\"y, \"\"z\"\"\",2,0.5,0.25,2,0.25,0.125,0.375,0.25,true,0.5,true,3,nats\n"
            "\"y, \"\"z\"\"\",x,1,-0.125,-0.25,,0.125,0,0.25,1,false,1,false,3,nats\n");
}

TEST(LinkTable, LagsInTime) {
  auto network = tiny();
  network.time_step = TimeStep{0.25, "year"};
  const std::string csv = link_table_csv(network);
  EXPECT_EQ(csv.find("source,target,lag,lag_time (year),value,"), 0u);
  EXPECT_NE(csv.find(",2,0.5,0.5,0.25,"), std::string::npos);
  EXPECT_EQ(network.lag_text(2), "2 (0.5 year)");
  EXPECT_EQ(tiny().lag_text(2), "2");
}

TEST(LinkTable, TheFloorOfPIsShownAsSuch) {
  auto network = tiny();
  EXPECT_TRUE(p_at_floor(network, network.links[0]));
  EXPECT_EQ(p_text(network, network.links[0]), "<= 1/4");
  EXPECT_EQ(p_text(network, network.links[1]), "1");
  network.links[0].surrogate_count = 7;  // a link's own number takes precedence
  EXPECT_EQ(surrogate_count(network, network.links[0]), 7);
  EXPECT_FALSE(p_at_floor(network, network.links[0]));
  EXPECT_EQ(p_text(network, network.links[0]), "0.25");
  network.request.p_value = PValue::plain;
  network.links[0].p_value = 0;
  EXPECT_EQ(p_text(network, network.links[0]), "< 1/7");
  network.links[0].p_value = std::nan("");
  EXPECT_FALSE(p_at_floor(network, network.links[0]));
  EXPECT_EQ(p_text(network, network.links[0]), "-");
}

TEST(LinkTable, CsvCellsReadBack) {
  EXPECT_EQ(csv_cell("plain name"), "plain name");
  EXPECT_EQ(csv_cell("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv_cell(" a"), "\" a\"");
  EXPECT_EQ(csv_cell("#1"), "\"#1\"");
  EXPECT_EQ(csv_cell("\""), "\"\"\"\"");
  EXPECT_EQ(csv_cell(""), "");
  for (const char* formula : {"=1+1", "+a", "-2+3", "@SUM(A1)", "\tx", "\r=1"})
    EXPECT_EQ(csv_cell(formula), std::string("\"'") + formula + "\"");
  for (const char* harmless : {"-1.5", "-", "a=1", "1e-5"}) EXPECT_EQ(csv_cell(harmless), harmless);
}

TEST(NetworkJson, LinksHaveNamesAndDerivedValues) {
  auto network = tiny();
  network.time_step = TimeStep{0.25, "year"};
  network.groups = {{"g", "h"}, {1, 0}};
  const auto j = network_json(network);
  const auto& link = j["links"][0];
  EXPECT_EQ(link["source"], "x");
  EXPECT_EQ(link["target"], "y, \"z\"");
  EXPECT_EQ(link["source_index"], 0);
  EXPECT_EQ(link["target_index"], 1);
  EXPECT_EQ(link["bias_corrected"], 0.25);
  EXPECT_EQ(link["z"], 2);
  EXPECT_EQ(link["surrogate_q95"], 0.375);
  EXPECT_EQ(link["lag_time"], 0.5);
  EXPECT_EQ(link["p_at_floor"], true);
  EXPECT_EQ(link["surrogates"], 3);
  EXPECT_TRUE(std::isnan(j["links"][1]["z"].get<double>()));
  EXPECT_EQ(j["rows"], 10);
  EXPECT_EQ(j["groups"][0]["group"], "h");
  EXPECT_EQ(j["time_step"]["unit"], "year");
  EXPECT_NE(j["caution"].get<std::string>().find("common driver"), std::string::npos);
}

TEST(NetworkJson, TextIsThatOfTheDocument) {
  auto network = tiny();
  network.variables[0] = "a\n  \"links\": [\x80";  // a bad byte is replaced
  network.warnings = {{"name", "\n  \"links\": ["}};
  const auto shown = [](const nlohmann::ordered_json& j) { return j.dump(2) + "\n"; };
  for (const std::size_t links : {0, 1, 2, 63, 64, 65, 129}) {
    network.links.resize(std::max(links, std::size_t(2)), network.links[1]);
    network.links.resize(links);
    if (links > 2) network.links.back().command = "kolmo te 'a\\n'";
    auto j = network_json(network);
    EXPECT_EQ(network_text(network, 1), shown(j)) << links;
    j["seconds"] = 0.5;
    EXPECT_EQ(network_text(network, 3, {{"seconds", 0.5}}), shown(j)) << links;
    network.links = tiny().links;
  }
}

}  // namespace
}  // namespace kolmo
