#pragma once
#include <string>
#include <vector>

#include "kolmo/op/registry.hpp"

namespace CLI {
class App;
}

namespace kolmo::cli {

/// The operators a command works on: `[OP...] [--group G]`; all of them by default. An alias stands for its
/// own cases only.
struct Selection {
  std::vector<std::string> names;
  std::string group;

  void add(CLI::App& command);
  /// Throws InvalidArgument for unknown names and empty groups.
  std::vector<const OpEntry*> entries() const;
};

}  // namespace kolmo::cli
