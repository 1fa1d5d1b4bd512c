#pragma once
#include <string>

namespace CLI {
class App;
}

namespace kolmo::cli {

/// `--metrics`, `--trace`, `--check-numerics` and `--nvtx`, for every command that works on a device.
struct MonitoringOptions {
  std::string metrics, trace;
  bool check_numerics = false, nvtx = false;

  void add(CLI::App& command);
  /// Starts what was asked for; it goes on until the command ends.
  void begin() const;
};

/// Where this process serves; empty while it does not.
std::string metrics_url();

/// Writes the trace of a command that came to its end, if one was asked for.
void finish_monitoring();

}  // namespace kolmo::cli
