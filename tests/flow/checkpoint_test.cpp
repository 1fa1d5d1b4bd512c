#include "kolmo/flow/infer/checkpoint.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>

#include "kolmo/base/error.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/paths.hpp"

namespace kolmo {
namespace {

using testing_io::content_of;
using testing_io::TemporaryFolder;
using Records = std::map<Checkpoint::Id, std::string>;

std::string complaint(const std::string& path, const std::string& key = "key") {
  try {
    Checkpoint c(path, key);
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "none";
}

struct CheckpointFile : testing::Test {
  TemporaryFolder folder;
  std::string path = folder / "result.json.partial";
  const Records records{{{1, 2}, "one"}, {{1, -1}, "two"}, {{7, 3}, std::string(100000, 'x')}};

  void write() {
    Checkpoint c(path, "key");
    EXPECT_TRUE(c.finished().empty());
    c.add({*records.begin()});
    c.add({std::next(records.begin()), records.end()});
  }
  void alter(std::size_t at, const std::string& bytes) {
    std::fstream f(path, std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(std::streamoff(at));
    f << bytes;
  }
};

TEST_F(CheckpointFile, KeepsRecords) {
  write();
  Checkpoint c(path, "key");
  EXPECT_EQ(c.finished(), records);
  c.remove();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(CheckpointFile, OfAnotherRunIsRefusedAndLeftAlone) {
  write();
  const std::string before = content_of(path);
  EXPECT_EQ(complaint(path, "other"),
            path + ": the checkpoint of a run with other data or options; delete it to start over");
  EXPECT_EQ(content_of(path), before);
}

TEST_F(CheckpointFile, TextIsRefusedAndLeftAlone) {
  std::ofstream(path) << "no database, but long enough to look at: " << std::string(5000, '.');
  const std::string before = content_of(path);
  EXPECT_NE(complaint(path).find("not a usable checkpoint"), std::string::npos) << complaint(path);
  EXPECT_EQ(content_of(path), before);
}

TEST_F(CheckpointFile, OtherDatabaseIsRefused) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "CREATE TABLE record(a, b, text, check_sum)", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(db);
  EXPECT_NE(complaint(path).find("not a checkpoint of kolmo"), std::string::npos) << complaint(path);
}

TEST_F(CheckpointFile, DamageIsNoticed) {
  write();
  const std::string whole = content_of(path);
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += 512) {
    std::ofstream(path, std::ios::binary) << whole;
    alter(at, std::string(8, '\x5a'));
    try {
      Checkpoint c(path, "key");
      EXPECT_EQ(c.finished(), records) << "damage at byte " << at << " went unnoticed";
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST_F(CheckpointFile, TruncationIsNoticed) {
  write();
  std::filesystem::resize_file(path, 50000);
  EXPECT_NE(complaint(path), "none");
}

TEST_F(CheckpointFile, IsUsedByOneProcess) {
  Checkpoint c(path, "key");
  EXPECT_NE(complaint(path).find("another process"), std::string::npos) << complaint(path);
}

// The files from which fuzzing starts are good or damaged as their names say, and each damaged one is refused
// where it is meant to be.
TEST_F(CheckpointFile, OfTheCorpusOfFuzzing) {
  const std::filesystem::path corpus = source_dir() / "tests/fuzz/corpus/checkpoint";
  const std::map<std::string, std::string> expected{{"good", "none"},
                                                    {"empty", "none"},
                                                    {"many_pages", "none"},
                                                    {"other_key", "of a run with other data or options"},
                                                    {"check_sum", "the checkpoint is damaged"},
                                                    {"not_ours", "not a checkpoint of kolmo"},
                                                    {"trigger", "the checkpoint is damaged"},
                                                    {"view", "the checkpoint is damaged"},
                                                    {"cut", "not a usable checkpoint"},
                                                    {"page", "damaged"},
                                                    {"header", "not a usable checkpoint"}};
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(corpus))
    files += file.path().extension() == ".sqlite";
  EXPECT_EQ(files, expected.size());
  for (const auto& [name, why] : expected) {
    std::filesystem::copy_file(corpus / (name + ".sqlite"), path,
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_NE(complaint(path).find(why), std::string::npos) << name << ": " << complaint(path);
  }
  std::filesystem::copy_file(corpus / "good.sqlite", path, std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(Checkpoint(path, "key").finished().size(), 4u);
}

TEST_F(CheckpointFile, MissingFolder) { EXPECT_NE(complaint(folder / "no/such/file"), "none"); }

}  // namespace
}  // namespace kolmo
