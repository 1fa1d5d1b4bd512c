#pragma once
#include <string>
#include <vector>

#include "kolmo/op/registry.hpp"

namespace CLI {
class App;
}

namespace kolmo::cli {

/// The operators that a command works on: `[OP...] [--group G]`, by default all of them. An alias selects
/// only its own cases.
struct Selection {
  std::vector<std::string> names;
  std::string group;

  void add(CLI::App& command);
  /// Throws InvalidArgument for unknown names and empty groups.
  std::vector<const OpEntry*> entries() const;
};

/// The operator's cases for `--case TEXT`: the case of this name if there is one, otherwise those with the
/// text in their names.
std::vector<std::size_t> chosen_cases(const OpEntry& entry, std::string_view text);

/// Throws InvalidArgument, which names the cases there are, if `--case TEXT` selects no case of these
/// operators.
void require_case(const std::vector<const OpEntry*>& entries, const std::string& text);

}  // namespace kolmo::cli
