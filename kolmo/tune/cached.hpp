#pragma once
#include <map>
#include <string>

#include "kolmo/tune/store.hpp"
#include "kolmo/tune/tune.hpp"

namespace kolmo::tune {

/// What a remembered result of tuning a function belongs to.
struct Cache {
  Store store;
  /// Of the code that is tuned: a result for another version counts as none.
  std::string version;
  /// Sizes share results by buckets (bucket.hpp); measure at bucket_edge(size), which serves all of its
  /// bucket.
  std::map<std::string, std::int64_t> sizes = {};
  Device device = {};
};

/// tune() with a memory: a result for this name, version, space and bucket on this device that is no older
/// than about a week is read from the store; anything else is measured, with an older one as the incumbent,
/// and stored when it was decided.
Tuning tune_cached(std::string_view name, const Space& space, const Evaluate& evaluate, Cache cache,
                   TuneOptions options = {});

}  // namespace kolmo::tune
