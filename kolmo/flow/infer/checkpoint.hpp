#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

struct sqlite3;

namespace kolmo {

/// The finished work of a long computation, as records that are keyed by two numbers. New work is added to
/// it.
class FinishedWork {
 public:
  using Id = std::pair<std::int64_t, std::int64_t>;
  using Records = std::map<Id, std::string>;

  virtual ~FinishedWork() = default;
  /// The records that were there before the computation began, and need not be computed.
  const Records& finished() const { return finished_; }
  virtual void add(const Records& records) = 0;

 protected:
  Records finished_;
};

/// Finished work in an SQLite file, so that a later run can resume it. Records are written in transactions, and each has
/// a checksum. The file belongs to one computation, identified by `key`.
class Checkpoint : public FinishedWork {
 public:
  /// Opens or creates the file. Throws InvalidArgument, naming the file, if it is not a checkpoint, is
  /// damaged, belongs to another computation or is in use by another process; the file is unchanged then.
  Checkpoint(const std::string& path, const std::string& key);

  const std::string& path() const { return path_; }
  /// Commits records in one transaction. If that fails (a full disk, a folder that is gone), failure() says
  /// why and later records are not kept; the computation goes on.
  void add(const Records& records) override;
  const std::string& failure() const { return failure_; }
  /// Has this called when records are first not kept, with what failure() says.
  void when_failed(std::function<void(const std::string&)> call) { when_failed_ = std::move(call); }
  /// Deletes the file.
  void remove();

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  void run(const char* sql);
  void load();
  void commit(const Records& records);

  std::string path_, key_, failure_;
  std::function<void(const std::string&)> when_failed_;
  std::unique_ptr<sqlite3, Close> db_;
};

/// Finished work in memory: the records that were given, and those added since. `further`, if given, is
/// passed them too.
class KeptWork : public FinishedWork {
 public:
  /// Records that `further` has are finished too; those that it lacks are added to it.
  explicit KeptWork(Records finished = {}, FinishedWork* further = nullptr);
  void add(const Records& records) override;
  /// All records: finished() and those that were added.
  const Records& all() const { return all_; }

 private:
  Records all_;
  FinishedWork* further_;
};

}  // namespace kolmo
