#include "cli/suggest.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "kolmo/io/nearest.hpp"

namespace kolmo::cli {
namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

bool takes_words(const CLI::App& app) {
  const auto options = app.get_options();
  return std::any_of(options.begin(), options.end(), [](auto* o) { return o->get_positional(); });
}

}  // namespace

std::string suggest(const CLI::App& app, int argc, char** argv) {
  const CLI::App* level = &app;
  std::vector<std::string> options = option_names(app);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    std::vector<std::string> known;
    if (word.size() > 2 && word.starts_with("--")) {
      known = options;
    } else if (!word.starts_with('-') && !takes_words(*level)) {
      const auto commands = commands_of(*level);
      for (const CLI::App* c : commands) known.push_back(c->get_name());
      const auto found = std::find(known.begin(), known.end(), word);
      if (found != known.end()) {
        level = commands[std::size_t(found - known.begin())];
        for (const std::string& name : option_names(*level)) options.push_back(name);
        continue;
      }
      if (i > 1 && std::string_view(argv[i - 1]).starts_with('-')) continue;  // the value of an option
    }
    const std::string name = word.substr(0, word.find('='));
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string meant = nearest(name, known);
    if (!meant.empty()) return "did you mean " + meant + " instead of " + name + "?";
  }
  return "";
}

}  // namespace kolmo::cli
