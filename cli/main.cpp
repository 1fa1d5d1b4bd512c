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

int run(int argc, char** argv) {
  CLI::App app{"Kolmo: information flow between time series, on the CPU and the GPU.", "kolmo"};
  app.footer("Example:\n  kolmo te data.csv --source 0 --target 1 --surrogates 200");
  app.set_version_flag("--version", "kolmo " + std::string(version()) + " (" + std::string(commit()) + ")");
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& e) { return std::string(e.what()); });
  Context context;
  for (int i = 0; i < argc; ++i) context.command_line += (i ? " " : "") + shell_quoted(i ? argv[i] : "kolmo");
  for (const auto add : commands) add(app, context);
  try {
    app.parse(argc, argv);
    if (!std::cout.flush()) return complain("cannot write to standard output", 1);
    return context.status;
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    return complain(e.what() + std::string(" (see kolmo --help)"), 2);
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
