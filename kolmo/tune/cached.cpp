#include "kolmo/tune/cached.hpp"

#include <ctime>

#include "kolmo/io/sha256.hpp"

namespace kolmo::tune {
namespace {

/// The number of a stored configuration in a space; the space's size if it is not in this space.
std::size_t number_of(const Profile::Config& config, const Space& space) {
  Values values;
  for (const Parameter& p : space.parameters()) {
    const auto value = config.params.find(p.name);
    if (value == config.params.end()) return space.size();
    values.push_back(value->second);
  }
  return config.params.size() == values.size() ? space.find(values) : space.size();
}

std::string hash_of(const Space& space, const std::string& version) {
  std::string text = version;
  for (const Parameter& p : space.parameters()) {
    text += "\n" + p.name;
    for (const std::int64_t v : p.values) text += " " + std::to_string(v);
  }
  return sha256(text);
}

Tuning tuning_of(std::string_view name, const Profile& p, const Space& space) {
  Tuning t;
  t.name = name, t.strategy = p.strategy, t.cached = t.decided = true;
  t.combinations = p.combinations, t.feasible = p.feasible, t.samples = p.samples, t.discarded = p.discarded;
  t.seconds = p.seconds, t.tried = p.configs.size();
  for (const auto& [key, config] : p.configs) {
    t.findings.push_back(config.finding);
    t.findings.back().config = number_of(config, space);
  }
  t.winner = number_of(p.winning(), space), t.standard = number_of(p.configs.at(p.standard), space);
  if (!p.naive.empty()) t.naive = int(number_of(p.configs.at(p.naive), space));
  return t;
}

}  // namespace

Tuning tune_cached(std::string_view name, const Space& space, const Evaluate& evaluate, Cache cache,
                   TuneOptions options) {
  Key key{std::string(name), hash_of(space, cache.version), "", {}, {}};
  for (const auto& [size, value] : cache.sizes) key.dims.push_back({size, bucket_of(value)});
  const Environment here = environment_of(cache.device, "function");
  if (const auto known = cache.store.get(here, key)) {
    const std::size_t winner = number_of(known->winning(), space);
    const bool standard_is_the_same =
        number_of(known->configs.at(known->standard), space) == options.standard;
    if (winner < space.size() && standard_is_the_same) {
      if (!known->stale && known->expires > std::time(nullptr)) return tuning_of(name, *known, space);
      options.incumbent = int(winner);
    }
  }
  cache.store.require_writable(here, key);
  const Tuning t = tune(name, space, evaluate, options);
  if (t.decided) cache.store.put(here, make_profile(std::move(key), space, t));
  return t;
}

}  // namespace kolmo::tune
