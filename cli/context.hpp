#pragma once
#include <string>

#include "cli/monitoring.hpp"
#include "kolmo/runtime/streams.hpp"

namespace CLI {
class App;
}

namespace kolmo::cli {

/// The state that all subcommands share.
struct Context {
  std::string command_line;  ///< as typed, quoted for a shell; for records and reports
  int status = 0;            ///< exit status of a command that ran to its end; 1 if it found failures
};

/// The options `--device` and `--threads`, and those of monitoring.
struct DeviceOptions {
  std::string device = "auto";
  int threads = 0;
  MonitoringOptions monitoring;

  void add(CLI::App& command);
  /// Opens the stream to work on, reads tuning results, and starts monitoring. Throws if the device cannot be
  /// used.
  Stream open() const;
  /// Opens a stream on each device that `device` names, as open() does, for a command that shares its work among them.
  Streams open_all() const;
  /// Open without monitoring; tuning results are read once for a device.
  Stream open_unmonitored() const;
  Streams open_all_unmonitored() const;
};

/// Has calls on this device use the results of `kolmo tune`, if there are any; $KOLMO_TUNING may be "off".
void use_tuning(Device device);
/// Calls use_tuning() at the first call for a device.
void use_tuning_once(Device device);
/// Adds the calls for which no tuning result was found to the store's list, if there is a store. Errors are
/// ignored.
void keep_misses() noexcept;

/// A device as text: "cpu (Intel Xeon, 2 threads)", "cuda:0 (NVIDIA H200)", "simt (emulated GPU)". Every
/// command prints the device it uses.
std::string describe(const Stream& stream);
std::string describe(const Streams& streams);

}  // namespace kolmo::cli
