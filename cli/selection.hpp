#pragma once
#include <string>
#include <vector>

#include "kolmo/op/registry.hpp"

namespace CLI {
class App;
}

namespace kolmo::cli {

/// The operators a command works on: `[OP...] [--group G]`; all of them by default. An alias selects only its
/// own cases.
struct Selection {
  std::vector<std::string> names;
  std::string group;

  void add(CLI::App& command);
  /// Throws InvalidArgument for unknown names and empty groups.
  std::vector<const OpEntry*> entries() const;
};

/// The operator's cases for `--case TEXT`: the one of this name if there is one, else those with the text in their names.
std::vector<std::size_t> chosen_cases(const OpEntry& entry, std::string_view text);

/// For `--case TEXT`: throws InvalidArgument, which names the cases there are, if no case of these operators has the
/// text in its name.
void require_case(const std::vector<const OpEntry*>& entries, const std::string& text);

}  // namespace kolmo::cli
