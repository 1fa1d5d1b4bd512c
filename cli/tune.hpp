#pragma once
#include <cstdint>
#include <string>

#include "cli/context.hpp"
#include "cli/selection.hpp"
#include "kolmo/tune/tune_call.hpp"

namespace kolmo::cli {

struct TuneCommand {
  Selection selection;
  DeviceOptions device;
  std::string filter, mode, store, record;
  std::string export_to, import_from;
  std::uint64_t keep = 0;  ///< bytes to keep with --gc
  bool misses = false, stale = false, list = false, gc = false, dry_run = false, json = false;
  bool under_load = false;  ///< measure although other work disturbs it
  double budget = 0;        ///< seconds for everything; 0: no limit
  tune::TuneOptions search;
};

/// The upper edges of the buckets of sizes in a key, such as "b=1 n=256".
std::string sizes_of(const tune::Key& key);

/// Runs the commands on a store that measure nothing: --list, --export, --import, --gc.
void manage_store(const TuneCommand& o, tune::Store& store);
/// Tunes operators, prints the results, and stores them.
void tune_operators(const TuneCommand& o, tune::Store& store, Context& context);

}  // namespace kolmo::cli
