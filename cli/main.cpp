#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>

#include "cli/commands.hpp"
#include "kolmo/version.hpp"

namespace kolmo::cli {
namespace {

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

int run(int argc, char** argv) {
  CLI::App app{"Kolmo: information flow between time series, on the CPU and the GPU.", "kolmo"};
  app.footer("Example:\n  kolmo te data.csv --source 0 --target 1 --surrogates 200\n");
  app.set_version_flag("--version", "kolmo " + std::string(version()) + " (" + std::string(commit()) + ")");
  app.require_subcommand(1);
  Context context;
  for (int i = 0; i < argc; ++i) context.command_line += (i ? " " : "") + shell_quoted(i ? argv[i] : "kolmo");
  for (const auto add : commands) add(app, context);
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    command->footer(command->get_footer() + "\n");
  try {
    app.parse(argc, argv);
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

int main(int argc, char** argv) {
  std::signal(SIGINT, kolmo::cli::on_interrupt);
  return kolmo::cli::run(argc, argv);
}
