#include "cli/selection.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "kolmo/io/nearest.hpp"

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

std::vector<std::size_t> chosen_cases(const OpEntry& entry, std::string_view text) {
  const auto cases = entry.op->cases();
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!entry.has(cases[i]) || cases[i].name.find(text) == std::string_view::npos) continue;
    if (cases[i].name == text) return {i};
    all.push_back(i);
  }
  return all;
}

void require_case(const std::vector<const OpEntry*>& entries, const std::string& text) {
  if (text.empty()) return;
  std::vector<std::string> names;
  for (const OpEntry* entry : entries)
    for (const CaseInfo& c : entry->op->cases()) {
      if (!entry->has(c)) continue;
      if (c.name.find(text) != std::string_view::npos) return;
      if (std::find(names.begin(), names.end(), c.name) == names.end()) names.emplace_back(c.name);
    }
  std::string known;
  constexpr std::size_t shown = 40;
  for (std::size_t i = 0; i < std::min(names.size(), shown); ++i) known += (i ? ", " : "") + names[i];
  if (names.size() > shown)
    known +=
        " and " + std::to_string(names.size() - shown) + " more; kolmo info OP shows those of an operator";
  const std::string meant = nearest(text, names);
  fail<InvalidArgument>("--case: no case of " +
                        (entries.size() == 1 ? std::string(entries[0]->name())
                                             : "these " + std::to_string(entries.size()) + " operators") +
                        " has '" + text + "' in its name" +
                        (meant.empty() ? "" : " (did you mean '" + meant + "'?)") +
                        (names.empty() ? "; there are none" : "; there are: " + known));
}

}  // namespace kolmo::cli
