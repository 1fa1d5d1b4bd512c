#include <CLI/CLI.hpp>
#include <iostream>

#include "cli/commands.hpp"
#include "kolmo/op/registry.hpp"

namespace kolmo::cli {
namespace {

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

bool takes_op(const CLI::App& command) {
  for (const CLI::Option* o : command.get_options())
    if (o->get_positional() && o->get_type_name() == "OP") return true;
  return false;
}

std::string op_names() {
  std::string names;
  for (const OpEntry& e : all_names()) names += (names.empty() ? "" : " ") + std::string(e.name());
  return names;
}

constexpr auto device_names = "auto cpu cuda cuda:0 simt";

std::string bash_script(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* command : subcommands(app)) {
    names += (names.empty() ? "" : " ") + command->get_name();
    std::string words;
    for (const CLI::Option* o : command->get_options())
      for (const std::string& name : o->get_lnames()) words += (words.empty() ? "--" : " --") + name;
    if (takes_op(*command)) words += " " + op_names();
    cases += "    " + command->get_name() + ") words=\"" + words + "\" ;;\n";
  }
  return "# kolmo completion bash > ~/.local/share/bash-completion/completions/kolmo\n"
         "_kolmo() {\n"
         "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\" words=\"\"\n"
         "  case \"${COMP_WORDS[1]}\" in\n" +
         cases +
         "  esac\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then words=\"" +
         names + " --help --version --memory-trace\"; fi\n  if [ \"$previous\" = --device ]; then words=\"" +
         device_names +
         "\"; fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _kolmo kolmo\n";
}

/// Escapes text for single quotes in a zsh specification.
std::string zsh_text(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (c == '\'')
      all += "'\\''";
    else if (c == ':' || c == '[' || c == ']' || c == '\\')
      all += std::string("\\") + c;
    else
      all += c == '\n' ? ' ' : c;
  }
  return all;
}

std::string zsh_script(const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* command : subcommands(app)) {
    names += "    '" + command->get_name() + ":" + zsh_text(command->get_description()) + "'\n";
    cases += "    " + command->get_name() + ")\n      _arguments";
    for (const CLI::Option* o : command->get_options())
      for (const std::string& name : o->get_lnames()) {
        cases += " \\\n        '*--" + name + "[" + zsh_text(o->get_description()) + "]";
        if (name == "device")
          cases += ":device:(" + zsh_text(device_names) + ")";
        else if (takes_value(*o))
          cases += ":" + zsh_text(o->get_type_name()) + ":_files";
        cases += "'";
      }
    cases += takes_op(*command) ? " \\\n        '*:operator:(" + op_names() + ")'"
                                : " \\\n        '*:file:_files'";
    cases += "\n      ;;\n";
  }
  return "#compdef kolmo\n"
         "# kolmo completion zsh > a folder of $fpath, as _kolmo\n"
         "_kolmo() {\n  local -a commands\n  commands=(\n" +
         names +
         "  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
         "  local name=$words[2]\n  shift words; (( CURRENT-- ))\n  case $name in\n" +
         cases + "  esac\n}\n_kolmo \"$@\"\n";
}

}  // namespace

void add_completion(CLI::App& app, Context&) {
  static std::string shell;
  auto* command = app.add_subcommand("completion", "Print a script that completes kolmo's words in a shell");
  command->add_option("shell", shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  command->footer("Example:\n  source <(kolmo completion bash)");
  command->callback([&app] { std::cout << (shell == "bash" ? bash_script(app) : zsh_script(app)); });
}

}  // namespace kolmo::cli
