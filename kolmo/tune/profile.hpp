#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kolmo/runtime/device.hpp"
#include "kolmo/tune/bucket.hpp"
#include "kolmo/tune/tune.hpp"

namespace kolmo::tune {

/// What a measured time depends on besides the kernel: where it was measured, with which software, and how.
struct Environment {
  std::string device;  ///< "NVIDIA H200", "AMD EPYC"
  std::string kind;    ///< "cuda", "cpu", "simt"
  std::string capability;
  int processors = 0;
  std::uint64_t cache_bytes = 0, memory_bytes = 0;
  double power_limit_watts = 0;  ///< 0: not known
  std::string driver, library_version;
  std::string mode;  ///< of measuring: stream_hot, stream_cold, graph_hot, graph_cold, eager

  /// Sixteen hexadecimal digits, the name of its folder in a store.
  std::string id() const;
  friend bool operator==(const Environment&, const Environment&) = default;
};
/// The environment of a device as it is now.
Environment environment_of(Device device, std::string_view mode);

/// Which calls share a configuration: one kernel in one build, one dtype, sizes of the same buckets, the same
/// options.
struct Key {
  struct Dim {
    std::string name;
    Bucket bucket;
    friend bool operator==(const Dim&, const Dim&) = default;
  };
  std::string kernel, kernel_hash, dtype;
  std::vector<Dim> dims;
  std::map<std::string, std::string> extras;

  /// 24 hexadecimal digits, the name of its file in a store.
  std::string id() const;
  friend bool operator==(const Key&, const Key&) = default;
};

/// The result of one tuning as it is kept: every configuration's times, not only the winner's.
struct Profile {
  struct Config {
    std::map<std::string, std::int64_t> params;
    std::string label;  ///< for people, "block 256"
    Finding finding;
  };
  Key key;
  std::map<std::string, Config> configs;  ///< by "c" and the configuration's id in its space
  std::string winner, standard, naive;    ///< keys of configs; naive may be empty
  std::string strategy;
  std::size_t combinations = 0, feasible = 0, samples = 0, discarded = 0;
  double seconds = 0;                                                             ///< spent measuring
  double sm_clock_hertz = 0, lowest_sm_clock_hertz = 0, temperature_celsius = 0;  ///< 0: not known
  std::string throttled;                                                          ///< reasons seen
  std::map<std::string, double>
      baselines;                          ///< seconds of what else it is compared with: "vendor", "roofline"
  std::int64_t created = 0, expires = 0;  ///< seconds since 1970
  bool stale = false;                     ///< the times seen since have drifted from those here

  const Config& winning() const { return configs.at(winner); }
};

/// What is to be kept of a tuning. `label` names a configuration for people. It expires after seven days,
/// give or take a fifth, so that a fleet does not tune all at once.
Profile make_profile(Key key, const Space& space, const Tuning& tuning,
                     const std::function<std::string(std::size_t config)>& label = {});

// As JSON (docs/tuning.md). Parsers throw InvalidArgument when the text is not what they expect: not JSON, of
// another schema, damaged, or inconsistent.
inline constexpr int schema = 1;
std::string to_json(const Environment& environment);
Environment parse_environment(std::string_view json);
std::string to_json(const Key& key);
Key parse_key(std::string_view json);
std::string to_json(const Profile& profile);
Profile parse_profile(std::string_view json);

}  // namespace kolmo::tune
