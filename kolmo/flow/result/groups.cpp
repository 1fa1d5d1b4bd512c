#include "kolmo/flow/result/groups.hpp"

#include <algorithm>
#include <numeric>

#include "kolmo/base/error.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/io/row_splitter.hpp"

namespace kolmo {
namespace {

constexpr std::size_t unlisted = std::size_t(-1);
constexpr const char* name_of_rest = "no group";

std::size_t place_of(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  const auto place = std::size_t(found - names.begin());
  if (found == names.end()) names.push_back(name);
  return place;
}

}  // namespace

VariableGroups parse_groups(const std::string& text, const std::string& name,
                            const std::vector<std::string>& variables) {
  VariableGroups groups{{}, std::vector<std::size_t>(variables.size(), unlisted)};
  const std::string content = text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
  RowSplitter rows(content, ',', name, Comments::anywhere);
  std::vector<RowSplitter::Field> cells;
  for (bool first = true; rows.next(cells); first = false) {
    const std::string at = name + ":" + std::to_string(rows.line()) + ": ";
    require(cells.size() == 2,
            at + "has " + std::to_string(cells.size()) + " cells instead of two, variable,group");
    const std::string variable(cells[0].text), group(cells[1].text);
    if (first && variable == "variable" && group == "group") continue;
    require(!variable.empty() && !group.empty(), at + "has an empty cell");
    const auto found = std::find(variables.begin(), variables.end(), variable);
    const std::string quoted = "'" + printable(variable, 200) + "'";
    require(found != variables.end(), at + quoted + " is not a variable of this network");
    require(std::find(found + 1, variables.end(), variable) == variables.end(),
            at + quoted + " is the name of several variables");
    std::size_t& place = groups.group_of[std::size_t(found - variables.begin())];
    require(place == unlisted, at + quoted + " is listed twice");
    place = place_of(groups.names, group);
  }
  require(!groups.names.empty(), name + ": lists no variable");
  for (std::size_t& place : groups.group_of)
    if (place == unlisted) place = place_of(groups.names, name_of_rest);
  return groups;
}

VariableGroups read_groups(const std::string& path, const std::vector<std::string>& variables) {
  return parse_groups(read_file(path), file_label(path), variables);
}

std::vector<std::size_t> grouped_order(const NetworkDocument& network) {
  std::vector<std::size_t> order(network.variables.size());
  std::iota(order.begin(), order.end(), 0);
  const auto& group_of = network.groups.group_of;
  if (group_of.size() == order.size())
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return group_of[a] < group_of[b]; });
  return order;
}

NetworkDocument reordered(const NetworkDocument& network, const std::vector<std::size_t>& order) {
  NetworkDocument d = network;
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    d.variables[i] = network.variables[order[i]];
    if (!d.groups.names.empty()) d.groups.group_of[i] = network.groups.group_of[order[i]];
  }
  for (NetworkLink& link : d.links) link.source = place[link.source], link.target = place[link.target];
  for (NetworkTarget& target : d.targets) {
    target.target = place[target.target];
    for (ChosenValue& c : target.own_past) c.variable = place[c.variable];
    for (NetworkSearch& search : target.searches) {
      for (std::size_t& v : search.offered) v = place[v];
      for (ChosenValue& c : search.chosen) c.variable = place[c.variable];
      for (RemovedValue& r : search.removed) r.variable = place[r.variable];
    }
  }
  std::stable_sort(d.targets.begin(), d.targets.end(),
                   [](const auto& a, const auto& b) { return a.target < b.target; });
  return d;
}

}  // namespace kolmo
