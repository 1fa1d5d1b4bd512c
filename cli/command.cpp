#include "kolmo/command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/interrupt.hpp"
#include "cli/point_decimals.hpp"
#include "cli/suggest.hpp"
#include "kolmo/flow/analysis/network_analysis.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/runtime/memory/tracker.hpp"
#include "kolmo/version.hpp"

namespace kolmo::cli {
namespace {

constexpr std::size_t traced_events = 1 << 20;

int complain(std::string message, int status) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::cout.flush();
  std::fprintf(stderr, "kolmo: %s\n", printable(message, 1 << 16).c_str());
  return status;
}

/// The status, or 1 if what was printed cannot be written.
int printed(int status) {
  return std::cout.flush() ? status : complain("cannot write to standard output", 1);
}

/// CLI11's message, what may have been meant, and the help command with more information.
std::string usage_error(const CLI::App& app, const CLI::ParseError& e, int argc, char** argv) {
  const auto parsed = app.get_subcommands();
  std::string hint = suggest(app, argc, argv);
  if (!hint.empty()) hint += " ";
  if (parsed.empty() && argc > 1 && argv[1][0] != '-')
    return "there is no command '" + std::string(argv[1]) + "' (" + hint + "see kolmo --help)";
  return e.what() + std::string(" (") + hint + "see kolmo " +
         (parsed.empty() ? "" : parsed[0]->get_name() + " ") + "--help)";
}

/// Options with bounds take numbers; NaN is within all bounds, as CLI11 compares.
void refuse_nan(CLI::App& command) {
  for (CLI::Option* option : command.get_options([](const CLI::Option*) { return true; })) {
    bool bounded = false;
    try {
      for (int i = 0; !bounded; ++i) {
        const std::string what = option->get_validator(i)->get_description();
        bounded = what.starts_with("FLOAT in [") || what == "NONNEGATIVE";
      }
    } catch (const CLI::OptionNotFound&) {}  // there are no more
    if (bounded)
      option->check([](const std::string& text) {
        double value = 0;
        return CLI::detail::lexical_cast(text, value) && std::isnan(value) ? text + " is not a number"
                                                                           : std::string();
      });
  }
}

void write_memory_trace(const std::string& path) {
  if (!path.empty() && memory::tracking) write_file(path, to_json(memory::stop_tracking()).dump() + "\n");
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{"Kolmo: information flow between time series, on the CPU and the GPU.", "kolmo"};
  app.footer("Example:\n  kolmo te data.csv --source 0 --target 1 --surrogates 200\n");
  app.set_version_flag("--version", "kolmo " + std::string(version()) + " (" + std::string(commit()) + ")");
  app.require_subcommand(1);
  std::string memory_trace;
  add_output(app, "--memory-trace", memory_trace,
             "record allocations while the command runs (see kolmo memory)")
      ->type_name("FILE.json");
  Context context;
  for (int i = 0; i < argc; ++i) context.command_line += (i ? " " : "") + shell_word(i ? argv[i] : "kolmo");
  for (const auto add : commands) add(app, context);
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    command->footer(command->get_footer() + "\n"), refuse_nan(*command);
  // Must run before the command's own callback, which is called during parsing.
  app.parse_complete_callback([&] {
    if (memory_trace.empty()) return;
    memory::start_tracking(traced_events);
    write_at_interrupt([path = memory_trace] { write_memory_trace(path); });
  });
  const auto write_trace = [&] {
    finish_interrupts();
    write_memory_trace(memory_trace);
  };
  try {
    try {
      app.parse(argc, argv);
    } catch (const Error&) {  // after OutOfMemory the allocations are of most interest
      write_trace();
      throw;
    }
    write_trace();
    finish_monitoring();
    keep_misses();
    return printed(context.status);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return printed(app.exit(e));
    return complain(usage_error(app, e, argc, argv), 2);
  } catch (const InvalidArgument& e) {
    return complain(e.what(), 2);
  } catch (const Unsupported& e) {
    return complain(e.what(), 2);
  } catch (const std::exception& e) {
    return complain(e.what(), 1);
  }
}

}  // namespace
}  // namespace kolmo::cli

int kolmo::command(int argc, char** argv) {
  cli::handle_interrupts();
  const cli::PointDecimals points;
  return cli::parse_and_run(argc, argv);
}
