#include "kolmo/command.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/runtime/memory/tracker.hpp"
#include "kolmo/version.hpp"

namespace kolmo::cli {
namespace {

constexpr std::size_t traced_events = 1 << 20;

int complain(std::string message, int status) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::cout.flush();
  std::fprintf(stderr, "kolmo: %s\n", message.c_str());
  return status;
}

// Files are written beside their target and renamed when complete, so dying here leaves no half-written
// output.
extern "C" void on_interrupt(int signal) {
  constexpr char text[] = "\nkolmo: interrupted\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// What CLI11 says, and which help tells more.
std::string usage_error(const CLI::App& app, const CLI::ParseError& e, int argc, char** argv) {
  const auto parsed = app.get_subcommands();
  if (parsed.empty() && argc > 1 && argv[1][0] != '-')
    return "there is no command '" + std::string(argv[1]) + "' (see kolmo --help)";
  return e.what() + std::string(" (see kolmo ") + (parsed.empty() ? "" : parsed[0]->get_name() + " ") +
         "--help)";
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{"Kolmo: information flow between time series, on the CPU and the GPU.", "kolmo"};
  app.footer("Example:\n  kolmo te data.csv --source 0 --target 1 --surrogates 200\n");
  app.set_version_flag("--version", "kolmo " + std::string(version()) + " (" + std::string(commit()) + ")");
  app.require_subcommand(1);
  std::string memory_trace;
  app.add_option("--memory-trace", memory_trace,
                 "record allocations while the command runs (see kolmo memory)")
      ->type_name("FILE.json");
  Context context;
  for (int i = 0; i < argc; ++i) context.command_line += (i ? " " : "") + shell_quoted(i ? argv[i] : "kolmo");
  for (const auto add : commands) add(app, context);
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    command->footer(command->get_footer() + "\n");
  // Before the command's own callback, which parsing runs.
  app.parse_complete_callback([&] {
    if (memory_trace.empty()) return;
    const AtomicFile can_be_written(memory_trace);
    memory::start_tracking(traced_events);
  });
  const auto write_trace = [&] {
    if (!memory_trace.empty() && memory::tracking)
      write_file(memory_trace, to_json(memory::stop_tracking()).dump() + "\n");
  };
  try {
    try {
      app.parse(argc, argv);
    } catch (const Error&) {  // what memory was asked for is wanted the more when there was not enough
      write_trace();
      throw;
    }
    write_trace();
    finish_monitoring();
    keep_misses();
    if (!std::cout.flush()) return complain("cannot write to standard output", 1);
    return context.status;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
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
  std::signal(SIGINT, cli::on_interrupt);
  return cli::parse_and_run(argc, argv);
}
