#pragma once
#include <span>
#include <vector>

#include "kolmo/op/op.hpp"
#include "kolmo/tune/store.hpp"

namespace kolmo::tune {

/// From now on, calls that name neither variant nor threads run as the store says: the look-up is one hash
/// into a table that was read once and never changes; no lock, no file. Calls it does not know run as the
/// default and are remembered. `mode` is that of the measurements to use. Returns how many configurations
/// there are. Calling it again reads the store anew and raises the epoch. Operators registered later need
/// that, too.
std::size_t use(const Store& store, std::span<const Device> devices, std::string_view mode);
/// Every call runs as its default again.
void stop_using();
/// Changes whenever the table does. A captured graph keeps the configurations of its capture; whoever owns
/// one may capture it again when this differs.
std::uint64_t epoch();

/// What run() takes for a call, and where it came from.
struct Choice {
  RunOptions options;
  Origin origin = Origin::none;
  bool stale = false;
  std::uint64_t call = 0;  ///< names it to observe(); 0 when it has no configuration
};
Choice look_up(const OpBase& op, const void* args, Device device, int threads);

/// Tells the drift alarm what a call took on its device. The monitor does so for the launches that it times.
void observe(std::uint64_t call, double seconds);

struct Missed {
  Device device;
  Key key;
  bool stale = false;  ///< it has a configuration whose times have drifted, or that is too old
};
/// Calls since use() that had no configuration or a stale one, each once, at most 4096 of them.
std::vector<Missed> missed();
/// Adds them to the store's list, which `kolmo tune --misses` works off, and marks stale ones in the store.
/// Returns how many there are.
std::size_t record_misses(Store& store);

}  // namespace kolmo::tune
