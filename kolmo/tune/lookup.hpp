#pragma once
#include <optional>
#include <span>
#include <vector>

#include "kolmo/op/registry.hpp"
#include "kolmo/tune/store.hpp"

namespace kolmo::tune {

/// From now on, calls that specify neither variant nor threads run with the configuration in the store. The
/// look-up is one hash into an immutable table in memory; no lock, no file access. Calls without a stored
/// configuration are recorded as missed. They run with that of the nearest known call which differs in sizes
/// and integers only, by at most a factor of 4 in each; without one, as the default. `mode` selects the measurements to use.
/// Returns the number of configurations. Calling it again reads the store anew and raises the epoch; that is
/// also necessary for operators registered later.
std::size_t use(const Store& store, std::span<const Device> devices, std::string_view mode);
/// Every call runs with its default again.
void stop_using();
/// Changes with every change of the table. A captured graph keeps the configurations of its capture; capture
/// it again when the epoch differs.
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
  bool stale = false;      ///< too old; or drifted, and then not used
  std::uint64_t call = 0;  ///< id for observe(); 0: the call has no configuration
};
Choice look_up(const OpBase& op, const void* args, Device device, int threads);
/// The same, without counting or recording it.
Choice peek(const OpBase& op, const void* args, Device device, int threads);

/// Passes the device time of a call to the drift alarm. The monitor does this for the launches that it times.
void observe(std::uint64_t call, double seconds);

struct Missed {
  Device device;
  Key key;
  CallShape call;
  bool stale = false;  ///< it has a configuration that is too old or whose times have drifted
};
/// Calls since use() that had no configuration of their own or a stale one, each once, at most 4096 of them.
std::vector<Missed> missed();
/// Adds missed() to the store's list, which `kolmo tune --misses` processes, and marks stale configurations
/// in the store. Returns the number of missed calls.
std::size_t record_misses(Store& store);

}  // namespace kolmo::tune
