#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kolmo/op/call_shape.hpp"
#include "kolmo/runtime/device.hpp"
#include "kolmo/tune/bucket.hpp"
#include "kolmo/tune/tune.hpp"

namespace kolmo::tune {

/// The conditions that a measured time depends on besides the kernel: device, software and way of measuring.
struct Environment {
  std::string device;  ///< "NVIDIA H200", "AMD EPYC"
  std::string kind;    ///< "cuda", "cpu", "simt"
  std::string capability;
  int processors = 0;
  std::uint64_t cache_bytes = 0, memory_bytes = 0;
  double power_limit_watts = 0;  ///< 0: not known
  std::string driver, library_version;
  std::string mode;  ///< the mode of measuring: stream_hot, stream_cold, graph_hot, graph_cold, eager

  /// Sixteen hexadecimal digits, the name of its folder in a store.
  std::string id() const;
  friend bool operator==(const Environment&, const Environment&) = default;
};
/// The current environment of a device.
Environment environment_of(Device device, std::string_view mode);

/// Identifies the calls that share a configuration: one kernel in one build, one dtype, sizes in the same
/// buckets, the same options.
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

/// The stored result of one tuning: the times of every configuration, not only the winner's.
struct Profile {
  struct Config {
    std::map<std::string, std::int64_t> params;
    std::string label;  ///< for people, "block 256, 2 threads"
    Finding finding;
    /// For an operator: its row by name, which is valid even if the order of rows changes.
    std::string variant = {};
  };
  Key key;
  /// The key is "c" and the configuration's id in its space.
  std::map<std::string, Config> configs;
  std::string winner, standard, naive;  ///< keys of configs; naive may be empty
  std::string strategy;
  std::size_t combinations = 0, feasible = 0, samples = 0, discarded = 0;
  double seconds = 0;                                                             ///< seconds spent measuring
  double sm_clock_hertz = 0, lowest_sm_clock_hertz = 0, temperature_celsius = 0;  ///< 0: not known
  std::string throttled;                    ///< reasons for throttling that were seen
  std::map<std::string, double> baselines;  ///< seconds of other references: "vendor", "roofline"
  std::int64_t created = 0, expires = 0;    ///< seconds since 1970
  bool stale = false;                       ///< times observed since then have drifted from these

  const Config& winning() const { return configs.at(winner); }
};

/// Makes the profile of a tuning. `label` gives the readable name of a configuration. A profile expires after
/// seven days, plus or minus a fifth at random, so that many machines do not tune at the same time.
Profile make_profile(Key key, const Space& space, const Tuning& tuning,
                     const std::function<std::string(std::size_t config)>& label = {});

// JSON format (docs/tuning.md). Parsers throw InvalidArgument for text that is not JSON, of another schema,
// damaged, or inconsistent.
inline constexpr int schema = 1;
std::string to_json(const Environment& environment);
Environment parse_environment(std::string_view json);
std::string to_json(const Key& key);
/// Writes a call that had no profile.
std::string to_json(const Key& key, const CallShape& call);
std::pair<Key, CallShape> parse_miss(std::string_view json);
std::string to_json(const Profile& profile);
Profile parse_profile(std::string_view json);

}  // namespace kolmo::tune
