#pragma once
#include <optional>
#include <span>
#include <vector>

#include "kolmo/op/registry.hpp"
#include "kolmo/tune/store.hpp"

namespace kolmo::tune {

/// Makes calls that specify neither variant nor threads run with the configuration in the store, from now on.
/// The look-up is one hash into an immutable table in memory; it takes no lock and accesses no file. Calls
/// without a stored configuration are recorded as missed. They run with the configuration of the nearest
/// known call that differs in sizes and integers only, by at most a factor of 4 in each; if there is none,
/// with the default. `mode` selects the measurements to use. Returns the number of configurations. Calling it
/// again reads the store anew and raises the epoch; that is also necessary for operators registered later.
std::size_t use(const Store& store, std::span<const Device> devices, std::string_view mode);
/// Makes every call run with its default again.
void stop_using();
/// A number that changes with every change of the table. A captured graph keeps the configurations of its
/// capture; capture it again if the epoch differs.
std::uint64_t epoch();

/// The run options of a stored configuration; empty if it does not apply to this operator and kind of device,
/// e.g. because its row no longer exists.
std::optional<RunOptions> options_of(const Profile::Config& config, const OpEntry& entry, DeviceKind kind);
/// Stores the rows of an operator's configurations by name instead of by index.
void name_variants(Profile& profile, const OpEntry& entry, DeviceKind kind);

/// The options that run() uses for a call, and their origin.
struct Choice {
  RunOptions options;
  Origin origin = Origin::none;
  /// The configuration is too old; or its times have drifted, and then it is not used.
  bool stale = false;
  std::uint64_t call = 0;  ///< id for observe(); 0: the call has no configuration
};
Choice look_up(const OpBase& op, const void* args, Device device, int threads);
/// Returns the options that run() would use, without counting or recording the call.
Choice peek(const OpBase& op, const void* args, Device device, int threads);

/// Passes the device time of a call to the drift alarm. The monitor does this for the launches that it times.
void observe(std::uint64_t call, double seconds);

struct Missed {
  Device device;
  Key key;
  CallShape call;
  bool stale = false;  ///< it has a configuration that is too old or whose times have drifted
};
/// The calls since use() that had no configuration of their own, or a stale one: each once, at most 4096 of
/// them.
std::vector<Missed> missed();
/// Adds missed() to the store's list, which `kolmo tune --misses` processes, and marks stale configurations
/// in the store. Returns the number of missed calls.
std::size_t record_misses(Store& store);

}  // namespace kolmo::tune
