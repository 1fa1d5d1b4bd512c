#include "cli/analysis_call.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/commands.hpp"
#include "cli/files.hpp"

namespace kolmo::cli {
namespace {

struct Analysis {
  std::string_view name;
  void (*add)(CLI::App&, Context&);
};
constexpr Analysis analyses[] = {
    {"entropy", add_entropy}, {"mi", add_mi}, {"te", add_te}, {"ais", add_ais}, {"network", add_network}};

/// The parser of one analysis command within a program.
struct AnalysisParser {
  Context context;
  CLI::App app{"", "kolmo"};
  CLI::App* command = nullptr;

  AnalysisParser(const std::string& name, AnalysisCall& call) {
    context.call = &call;
    const auto found = std::find_if(std::begin(analyses), std::end(analyses),
                                    [&](const Analysis& a) { return name == a.name; });
    if (found == std::end(analyses)) fail<InvalidArgument>("there is no analysis '" + name + "'");
    found->add(app, context);
    command = app.get_subcommand(name);
    command->set_help_flag();
    for (const char* option : {"--json", "--trials", "--header", "--na", "--decimal", "--transpose",
                               "--metrics", "--trace", "--check-numerics", "--nvtx", "--out"})
      command->remove_option(command->get_option_no_throw(option));
  }
};

/// Files declared by a call, and only these, are compared with each other.
struct OwnFiles {
  OwnFiles() { forget_files(); }
  OwnFiles(const OwnFiles&) = delete;
  OwnFiles& operator=(const OwnFiles&) = delete;
  ~OwnFiles() { forget_files(); }
};

}  // namespace

void analyse(const std::string& name, const std::vector<std::string>& options, AnalysisCall& call) {
  const OwnFiles own;
  AnalysisParser parser(name, call);
  std::string& line = parser.context.command_line;
  line = "kolmo " + name + " " + shell_quoted(call.table.file);
  for (const std::string& option : options) line += " " + shell_quoted(option);
  std::vector<std::string> reversed(options.rbegin(), options.rend());  // as CLI11 wants it
  reversed.push_back(name);
  try {
    parser.app.parse(std::move(reversed));
  } catch (const CLI::ParseError& e) {
    fail<InvalidArgument>(e.what());
  }
}

nlohmann::ordered_json analysis_options(const std::string& name) {
  AnalysisCall call;
  const AnalysisParser parser(name, call);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const CLI::Option* option : parser.command->get_options())
    for (const std::string& long_name : option->get_lnames())
      all.push_back({{"name", long_name},
                     {"type", option->get_expected_min() ? option->get_type_name() : "flag"},
                     {"default", option->get_default_str()},
                     {"help", option->get_description()}});
  return all;
}

}  // namespace kolmo::cli
