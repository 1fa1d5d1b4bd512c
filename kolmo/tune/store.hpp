#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kolmo/tune/profile.hpp"

namespace kolmo::tune {

/// Where a configuration came from: the rungs of the look-up.
enum class Origin : std::uint8_t {
  exact,       ///< measured in this environment
  foreign,     ///< on this device with another driver or library version
  capability,  ///< on another device of the same capability
  none,        ///< nothing is known: the default
};

/// A folder of tuning results that any number of processes read and write at once, without locks:
///   <root>/v1/<environment>/manifest.json, <root>/v1/<environment>/<kernel>/<key>.json
/// A file appears complete or not at all, and the last one wins. What cannot be read, is damaged, or is not
/// what its name says counts as not there; it is never an error, and never used. Writing raises
/// InvalidArgument where the folder cannot be written and DeviceError when the disk is full; what was there
/// before stays.
class Store {
 public:
  explicit Store(std::string root);
  /// $KOLMO_TUNING, or kolmo/tuning in $XDG_CACHE_HOME or ~/.cache.
  static std::string default_root();

  const std::string& root() const { return root_; }

  /// Throws InvalidArgument when the folder cannot be written.
  void require_writable() const;
  void put(const Environment& environment, const Profile& profile);
  std::optional<Profile> get(const Environment& environment, const Key& key) const;

  struct Found {
    Environment environment;
    Profile profile;
  };
  struct Hit {
    Profile profile;
    Origin origin;
  };
  /// The best rung of the ladder that has the key.
  std::optional<Hit> find(const Environment& environment, const Key& key) const;
  /// How far a profile of `other` applies in `here`.
  static Origin origin(const Environment& here, const Environment& other);
  /// Everything that is valid. `invalid` hears of every file that is not, and why.
  std::vector<Found> all(
      const std::function<void(const std::string& file, const std::string& why)>& invalid = {}) const;

  /// Calls that found nothing, to be tuned later.
  void add_miss(const Environment& environment, const Key& key);
  void remove_miss(const Environment& environment, const Key& key) noexcept;
  std::vector<Key> misses(const Environment& environment) const;

  /// All valid profiles as one file, and back; profiles that are already there and newer stay. Return how
  /// many.
  std::size_t export_to(const std::string& file) const;
  std::size_t import_from(const std::string& file);

  struct Collected {
    std::size_t files = 0;
    std::uint64_t bytes = 0, kept = 0;
  };
  /// Removes what is invalid, remains of killed writers, and then the oldest profiles until at most `bytes`
  /// are left.
  Collected collect(std::uint64_t bytes);

 private:
  std::string folder(const Environment& environment) const;
  std::string file(const Environment& environment, const Key& key) const;
  std::string root_;
};

}  // namespace kolmo::tune
