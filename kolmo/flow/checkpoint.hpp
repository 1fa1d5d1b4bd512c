#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

struct sqlite3;

namespace kolmo {

/// Finished work of a long computation in an SQLite file, so that a later run can go on: records keyed by two
/// numbers, written in transactions, each with a check sum. The file belongs to one computation, told by
/// `key`.
class Checkpoint {
 public:
  using Id = std::pair<std::int64_t, std::int64_t>;

  /// Opens the file, or makes it. InvalidArgument, naming the file: it is no checkpoint, is damaged, belongs
  /// to another computation or is in use by another process; none of these touches the file.
  Checkpoint(const std::string& path, const std::string& key);

  const std::string& path() const { return path_; }
  /// What earlier runs finished.
  const std::map<Id, std::string>& finished() const { return finished_; }
  /// Commits records together. DeviceError when the disk does not take them.
  void add(const std::map<Id, std::string>& records);
  /// Deletes the file.
  void remove();

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  void run(const char* sql);
  void load();

  std::string path_, key_;
  std::unique_ptr<sqlite3, Close> db_;
  std::map<Id, std::string> finished_;
};

/// 64-bit hash of bytes (FNV-1a), going on from `state`; tells files and records apart.
std::uint64_t fingerprint(std::string_view bytes, std::uint64_t state = 14695981039346656037u);

}  // namespace kolmo
