#pragma once
#include <map>
#include <string>

#include "kolmo/tune/store.hpp"
#include "kolmo/tune/tune.hpp"

namespace kolmo::tune {

/// The key of a stored tuning result of a function.
struct Cache {
  Store store;
  /// Version of the tuned code; results for other versions are not used.
  std::string version;
  /// Sizes share results by buckets (bucket.hpp). Measure at bucket_edge(size), whose result serves the whole
  /// bucket.
  std::map<std::string, std::int64_t> sizes = {};
  Device device = {};
};

/// Does what tune() does, with a store. A result for this name, version, space and bucket on this device that
/// is at most about a week old is read from the store. Otherwise the space is measured, with an older result
/// as the incumbent, and stored if a decision was reached. Throws InvalidArgument before it measures if the
/// store cannot be written.
Tuning tune_cached(std::string_view name, const Space& space, const Evaluate& evaluate, Cache cache,
                   TuneOptions options = {});

}  // namespace kolmo::tune
