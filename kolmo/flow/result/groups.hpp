#pragma once
#include <string>
#include <vector>

#include "kolmo/flow/result/network_document.hpp"

namespace kolmo {

/// Reads the groups of `variables` from a CSV file with one line "variable,group" for each. A header of
/// exactly these words is skipped; quotes and comments are as in data files. Groups are numbered in the order
/// in which the file names them. Variables that it does not list form the last group, "no group". Throws
/// InvalidArgument, "FILE:LINE: ...", for a line without two cells, an empty cell, a variable that does not
/// exist or is not unique, and one that is listed twice.
VariableGroups read_groups(const std::string& path, const std::vector<std::string>& variables);
/// Reads the groups from text; `name` stands for the file in messages.
VariableGroups parse_groups(const std::string& text, const std::string& name,
                            const std::vector<std::string>& variables);

/// The places of the variables, group by group; within a group they keep the order of the document. Without
/// groups this is 0 ... n-1.
std::vector<std::size_t> grouped_order(const NetworkDocument& network);

/// The network with its variables in the given order: order[i] is the variable that comes to place i.
NetworkDocument reordered(const NetworkDocument& network, const std::vector<std::size_t>& order);

}  // namespace kolmo
