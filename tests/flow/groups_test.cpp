#include "kolmo/flow/result/groups.hpp"

#include <gtest/gtest.h>

#include "kolmo/base/error.hpp"
#include "tests/flow/network_mock.hpp"

namespace kolmo {
namespace {

const std::vector<std::string> variables{"a", "b,c", "d", "e", "e"};

std::string message(const std::string& text) {
  try {
    parse_groups(text, "g.csv", variables);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(Groups, AreNumberedAsTheFileNamesThem) {
  const auto groups = parse_groups("variable,group\n\"b,c\", two\na,one\n", "g.csv", variables);
  EXPECT_EQ(groups.names, (std::vector<std::string>{"two", "one", "no group"}));
  EXPECT_EQ(groups.group_of, (std::vector<std::size_t>{1, 0, 2, 2, 2}));
}

TEST(Groups, ErrorsNameTheLine) {
  EXPECT_EQ(message("a,one\nx,one\n"), "g.csv:2: 'x' is not a variable of this network");
  EXPECT_EQ(message("a,one\na,two\n"), "g.csv:2: 'a' is listed twice");
  EXPECT_EQ(message("e,one\n"), "g.csv:1: 'e' is the name of several variables");
  EXPECT_EQ(message("a,one,more\n"), "g.csv:1: has 3 cells instead of two, variable,group");
  EXPECT_EQ(message("a\n"), "g.csv:1: has 1 cells instead of two, variable,group");
  EXPECT_EQ(message("a,\n"), "g.csv:1: has an empty cell");
  EXPECT_EQ(message("\x1b,one\n"), "g.csv:1: '\\x1b' is not a variable of this network");
  EXPECT_EQ(message("variable,group\n"), "g.csv: lists no variable");
  EXPECT_EQ(message(""), "g.csv: lists no variable");
}

TEST(Groups, ReorderingKeepsEveryLink) {
  auto network = mock::network(3, 1);
  network.groups = {{"x", "y"}, {1, 0, 1}};
  const auto order = grouped_order(network);
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 0, 2}));
  const auto moved = reordered(network, order);
  EXPECT_EQ(moved.groups.group_of, (std::vector<std::size_t>{0, 1, 1}));
  for (std::size_t i = 0; i < network.links.size(); ++i) {
    EXPECT_EQ(moved.variables[moved.links[i].source], network.variables[network.links[i].source]);
    EXPECT_EQ(moved.variables[moved.links[i].target], network.variables[network.links[i].target]);
  }
  EXPECT_EQ(moved.targets[0].history, network.targets[1].history);
}

}  // namespace
}  // namespace kolmo
