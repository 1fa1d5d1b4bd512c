#include "kolmo/flow/infer/checkpoint.hpp"

#include <sqlite3.h>

#include <filesystem>

#include "kolmo/base/error.hpp"
#include "kolmo/base/hash.hpp"

namespace kolmo {
namespace {

constexpr int application_id = 0x4b6f6c6d;  // "Kolm"

constexpr const char* meta_table = "CREATE TABLE meta(key TEXT NOT NULL)";
constexpr const char* record_table =
    "CREATE TABLE record(a INTEGER NOT NULL, b INTEGER NOT NULL, text BLOB NOT NULL,"
    " check_sum INTEGER NOT NULL, PRIMARY KEY(a, b)) WITHOUT ROWID";

struct Statement {
  sqlite3_stmt* s = nullptr;
  Statement(sqlite3* db, const char* sql) { status = sqlite3_prepare_v2(db, sql, -1, &s, nullptr); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(s); }
  bool row() {
    return (status = status == SQLITE_OK || status == SQLITE_ROW ? sqlite3_step(s) : status) == SQLITE_ROW;
  }
  std::string text(int column) {
    const auto* p = static_cast<const char*>(sqlite3_column_blob(s, column));
    return p ? std::string(p, std::size_t(sqlite3_column_bytes(s, column))) : std::string();
  }
  int status;
};

std::int64_t check_sum(const Checkpoint::Id& id, const std::string& key, const std::string& text) {
  const std::string place = std::to_string(id.first) + "," + std::to_string(id.second) + ":";
  return std::int64_t(fingerprint(text, fingerprint(place, fingerprint(key))));
}

}  // namespace

void Checkpoint::Close::operator()(sqlite3* db) const { sqlite3_close(db); }

void Checkpoint::run(const char* sql) {
  if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return;
  const int status = sqlite3_errcode(db_.get());
  const std::string why = sqlite3_errmsg(db_.get());
  if (status == SQLITE_BUSY) fail<InvalidArgument>(path_ + ": another process is working on this result");
  if (status == SQLITE_NOTADB || status == SQLITE_CORRUPT)
    fail<InvalidArgument>(path_ + ": not a usable checkpoint (" + why + "); delete it to start over");
  fail<DeviceError>(path_ + ": " + why);
}

Checkpoint::Checkpoint(const std::string& path, const std::string& key) : path_(path), key_(key) {
  sqlite3* db = nullptr;
  // The folder may be behind a link, and the file may not: somebody else may have put it there.
  std::error_code no_folder;
  const std::filesystem::path given(path);
  const auto folder =
      std::filesystem::canonical(given.has_parent_path() ? given.parent_path() : ".", no_folder);
  const std::string file = no_folder ? path : (folder / given.filename()).string();
  if (std::filesystem::is_symlink(file))
    fail<InvalidArgument>(path + ": is a symbolic link, which is not followed here");
  constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW;
  const int status = sqlite3_open_v2(file.c_str(), &db, flags, nullptr);
  db_.reset(db);
  if (status != SQLITE_OK) fail<InvalidArgument>(path + ": " + sqlite3_errstr(status));
  // SQLite rolls back the journal that a killed process leaves. More than NORMAL is needed only against a
  // power failure.
  run("PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = NORMAL; BEGIN EXCLUSIVE");
  load();
  run("COMMIT");
}

void Checkpoint::load() {
  Statement id(db_.get(), "PRAGMA application_id"), objects(db_.get(), "SELECT count(*) FROM sqlite_master");
  id.row(), objects.row();
  if (sqlite3_column_int(objects.s, 0) == 0 && sqlite3_column_int(id.s, 0) == 0) {
    run(("PRAGMA application_id = " + std::to_string(application_id) + "; " + meta_table + "; " +
         record_table)
            .c_str());
    Statement insert(db_.get(), "INSERT INTO meta VALUES(?)");
    sqlite3_bind_text(insert.s, 1, key_.data(), int(key_.size()), SQLITE_STATIC);
    insert.row();
    if (insert.status != SQLITE_DONE) fail<DeviceError>(path_ + ": " + sqlite3_errmsg(db_.get()));
    return;
  }
  const auto unusable = [&](const std::string& why) {
    fail<InvalidArgument>(path_ + ": " + why + "; delete it to start over");
  };
  if (sqlite3_column_int(id.s, 0) != application_id) unusable("not a checkpoint of kolmo");
  // Refuses views, triggers and generated columns: in a file from elsewhere they would be programs that run
  // here.
  Statement tables(db_.get(), ("SELECT count(*) FROM sqlite_master WHERE sql IN ('" +
                               std::string(meta_table) + "', '" + record_table + "')")
                                  .c_str());
  if (!tables.row() || sqlite3_column_int(tables.s, 0) != 2 || sqlite3_column_int(objects.s, 0) != 2)
    unusable("the checkpoint is damaged");
  Statement check(db_.get(), "PRAGMA quick_check"), key(db_.get(), "SELECT key FROM meta");
  if (!check.row() || check.text(0) != "ok" || !key.row()) unusable("the checkpoint is damaged");
  if (key.text(0) != key_) unusable("the checkpoint of a run with other data or options");
  Statement records(db_.get(), "SELECT a, b, text, check_sum FROM record");
  while (records.row()) {
    const Id at{sqlite3_column_int64(records.s, 0), sqlite3_column_int64(records.s, 1)};
    const std::string text = records.text(2);
    if (sqlite3_column_int64(records.s, 3) != check_sum(at, key_, text))
      unusable("the checkpoint is damaged");
    finished_.emplace(at, text);
  }
  if (records.status != SQLITE_DONE) unusable("the checkpoint is damaged");
}

void Checkpoint::add(const Records& records) {
  if (failure_.empty()) try {
      commit(records);
    } catch (const Error& e) {
      failure_ = e.what();
      if (when_failed_) when_failed_(failure_);
    }
}

void Checkpoint::commit(const Records& records) {
  run("BEGIN");
  for (const auto& [id, text] : records) {
    Statement insert(db_.get(), "INSERT OR REPLACE INTO record VALUES(?, ?, ?, ?)");
    sqlite3_bind_int64(insert.s, 1, id.first);
    sqlite3_bind_int64(insert.s, 2, id.second);
    sqlite3_bind_blob(insert.s, 3, text.data(), int(text.size()), SQLITE_STATIC);
    sqlite3_bind_int64(insert.s, 4, check_sum(id, key_, text));
    insert.row();
    if (insert.status != SQLITE_DONE) fail<DeviceError>(path_ + ": " + sqlite3_errmsg(db_.get()));
  }
  run("COMMIT");
}

KeptWork::KeptWork(Records finished, FinishedWork* further) : all_(std::move(finished)), further_(further) {
  if (further_) {
    Records lacking;
    for (const auto& record : all_)
      if (!further_->finished().contains(record.first)) lacking.insert(record);
    if (!lacking.empty()) further_->add(lacking);
    all_.insert(further_->finished().begin(), further_->finished().end());
  }
  finished_ = all_;
}

void KeptWork::add(const Records& records) {
  for (const auto& [id, text] : records) all_.insert_or_assign(id, text);
  if (further_) further_->add(records);
}

void Checkpoint::remove() {
  db_.reset();
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  std::filesystem::remove(path_ + "-journal", ignored);
}

}  // namespace kolmo
