#include "cli/selection.hpp"

#include <CLI/CLI.hpp>

namespace kolmo::cli {

void Selection::add(CLI::App& command) {
  command.add_option("ops", names, "names of operators or aliases; default all")->type_name("OP");
  command.add_option("--group", group, "only the operators of this group")->type_name("GROUP");
}

std::vector<const OpEntry*> Selection::entries() const {
  std::vector<const OpEntry*> all;
  if (names.empty())
    for (const OpEntry& e : all_ops()) all.push_back(&e);
  for (const std::string& name : names) all.push_back(&find_op(name));
  if (!group.empty()) std::erase_if(all, [&](const OpEntry* e) { return e->group != group; });
  if (all.empty()) fail<InvalidArgument>("no operator is in group '" + group + "'");
  return all;
}

}  // namespace kolmo::cli
