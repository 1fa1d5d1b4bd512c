#pragma once
#include <string>

namespace CLI {
class App;
}

namespace kolmo::cli {

/// The options `--metrics`, `--trace`, `--check-numerics` and `--nvtx`, which every command has that works on
/// a device.
struct MonitoringOptions {
  std::string metrics, trace;
  bool check_numerics = false, nvtx = false;

  void add(CLI::App& command);
  /// Starts the selected monitoring, which runs until the command ends.
  void begin() const;
};

/// The URL at which this process serves metrics; empty if it serves none.
std::string metrics_url();

/// Writes the trace of a command that succeeded, if one was requested. At an interrupt the trace is written
/// without this.
void finish_monitoring();

}  // namespace kolmo::cli
