#pragma once
#include <string>

namespace CLI {
class App;
}

namespace kolmo::cli {

/// A suggestion, such as "did you mean --source instead of --sorce?", for the first option or command on the
/// command line that does not exist and resembles one that does. Empty if there is none.
std::string suggest(const CLI::App& app, int argc, char** argv);

}  // namespace kolmo::cli
