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
  std::uint64_t keep = 0;  ///< bytes that --gc leaves
  bool misses = false, stale = false, list = false, gc = false, dry_run = false, json = false;
  tune::TuneOptions search;
};

/// The actions on a store that measure nothing: --list, --export, --import, --gc.
void manage_store(const TuneCommand& o, tune::Store& store);
/// Measures, prints, and stores.
void tune_operators(const TuneCommand& o, tune::Store& store, Context& context);

}  // namespace kolmo::cli
