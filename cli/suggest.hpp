#pragma once
#include <string>

namespace CLI {
class App;
}

namespace kolmo::cli {

/// "did you mean --source instead of --sorce?" for the first option or command on the command line that
/// does not exist and resembles one that does; empty if there is none.
std::string suggest(const CLI::App& app, int argc, char** argv);

}  // namespace kolmo::cli
