#pragma once
#include <string>

#include "cli/context.hpp"
#include "cli/input_options.hpp"
#include "kolmo/flow/analysis/session.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo::cli {

/// For the footer of a command's help.
inline constexpr char columns_help[] =
    "COLS are 0-based indices, ranges of them (3-40, 40 included) or header names, comma-separated. A name "
    "that\n"
    "looks like an index or a range, or holds a comma, goes in double quotes: '\"3-40\"'.";

/// What the commands that analyse a file share: FILE, how it is read, and what is printed.
struct AnalysisFlags {
  std::string file;
  bool json = false;
  InputOptions input;
  MonitoringOptions monitoring;
  CLI::App* command = nullptr;

  /// Adds FILE, the request's options and those of reading and printing. The request must live as long as the command.
  void add(CLI::App& command, Options options, void* request);
  /// Throws InvalidArgument for options on the command line that a settled request's estimator or test has not.
  void check_given(Options options, const EstimatorOptions& settled) const;
  /// The file's table, with warnings and notes that go to standard error.
  Session load() const;
  /// Opens the stream to work on, uses tuning results, and starts monitoring.
  Streams open(const AnalysisRequest& request) const;
};

/// Prints a warning or a note on standard error.
void print_warning(const Warning& warning);
void print_note(const std::string& text);

}  // namespace kolmo::cli
