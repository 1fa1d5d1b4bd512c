#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kolmo/tune/profile.hpp"

namespace kolmo::tune {

/// The origin of a configuration: the steps of the look-up, best first.
enum class Origin : std::uint8_t {
  exact,       ///< measured in this environment
  foreign,     ///< on this device with another driver or library version
  capability,  ///< that of the nearest known call of other sizes
  neighbour,   ///< nothing is known: the default
  none,        ///< nothing known: the default
};

/// A folder of tuning results that any number of processes may read and write at once, without locks:
///   <root>/v1/<environment>/manifest.json, <root>/v1/<environment>/<kernel>/<key>.json
/// A file appears complete or not at all, and the last writer wins. A file that is unreadable, damaged, or
/// inconsistent with its name is treated as missing; this is never an error. Only regular files of at most
/// 4 MiB are read. Below <root> no symbolic link is followed: one in the place of a file is replaced, one in
/// the place of a folder refused. Writing throws InvalidArgument if the folder is not writable and
/// DeviceError if the disk is full; the previous content is then unchanged.
class Store {
 public:
  explicit Store(std::string root);
  /// $KOLMO_TUNING, or kolmo/tuning in $XDG_CACHE_HOME or ~/.cache. "off" means that nothing is tuned or
  /// looked up.
  static std::string default_root();
  /// Opens the store there. Throws InvalidArgument if it is "off" or not writable.
  static Store writable_default();

  const std::string& root() const { return root_; }

  /// Throws InvalidArgument if the folder is not writable.
  void require_writable() const;
  /// Throws InvalidArgument if put() could not store a profile of this key. Call it before measuring.
  void require_writable(const Environment& environment, const Key& key) const;
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
  /// The profile of the best Origin that has the key.
  std::optional<Hit> find(const Environment& environment, const Key& key) const;
  /// The Origin of a profile of `other` when it is used in `here`.
  static Origin origin(const Environment& here, const Environment& other);
  /// All valid profiles. `invalid` is called for every invalid file, with the reason.
  std::vector<Found> all(
      const std::function<void(const std::string& file, const std::string& why)>& invalid = {}) const;

  /// A call without a configuration of its own, to be tuned later with its sizes and options.
  struct Miss {
    Key key;
    CallShape call;
    friend bool operator==(const Miss&, const Miss&) = default;
  };
  void add_miss(const Environment& environment, const Miss& miss);
  void remove_miss(const Environment& environment, const Key& key) noexcept;
  std::vector<Miss> misses(const Environment& environment) const;

  /// Write all valid profiles to one file, and read them back. Profiles that exist and are newer are kept.
  /// Both return the number of profiles.
  std::size_t export_to(const std::string& file) const;
  std::size_t import_from(const std::string& file);

  struct Collected {
    std::size_t files = 0;
    std::uint64_t bytes = 0, kept = 0;
  };
  /// Removes invalid files, remains of killed writers, and then the oldest profiles until at most `bytes` are
  /// left.
  Collected collect(std::uint64_t bytes);

 private:
  std::string folder(const Environment& environment) const;
  std::string file(const Environment& environment, const Key& key) const;
  void make_own_folder(const Environment& environment, const std::string& name) const;
  void put_manifest(const Environment& environment) const;
  std::string root_;
};

}  // namespace kolmo::tune
