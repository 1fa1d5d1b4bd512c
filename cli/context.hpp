#pragma once
#include <string>

#include "cli/monitoring.hpp"
#include "kolmo/runtime/stream.hpp"

namespace CLI {
class App;
}

namespace kolmo::cli {

/// What every subcommand shares.
struct Context {
  std::string command_line;  ///< as typed, quoted for a shell; for records and reports
  int status = 0;            ///< exit status of a command that ran to its end; 1 if it found failures
};

/// The `--device` and `--threads` options, and those of monitoring.
struct DeviceOptions {
  std::string device = "auto";
  int threads = 0;
  MonitoringOptions monitoring;

  void add(CLI::App& command);
  /// The stream to work on, tuned; monitoring begins. Throws when the device cannot be used.
  Stream open() const;
};

/// Calls on this device run as `kolmo tune` found best, where there are results; $KOLMO_TUNING may be "off".
void use_tuning(Device device);
/// Adds the calls that had no result to the store's list, where there is a store. Failing to is no failure.
void keep_misses() noexcept;

/// "cpu (Intel Xeon, 2 threads)", "cuda:0 (NVIDIA H200)", "simt (emulated GPU)": which device was taken is
/// always printed.
std::string describe(const Stream& stream);

/// `text` as one word for a shell.
std::string shell_quoted(const std::string& text);

}  // namespace kolmo::cli
