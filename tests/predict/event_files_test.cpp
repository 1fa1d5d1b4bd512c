#include "kolmo/predict/record/event_files.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "kolmo/base/error.hpp"
#include "kolmo/io/file.hpp"
#include "kolmo/predict/record/log_file.hpp"
#include "tests/paths.hpp"

namespace kolmo::predict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Both files were written by TensorBoard 2.21. The first has steps 1 to 6, with train/loss = 4 - step / 4, lr = 1/2 and at step 2
// eval/loss = 4.5 as a tensor. The second goes on from a checkpoint of step 4: train/loss is 1.375 and NaN, and lr 1/4 as a tensor.
const std::filesystem::path written = source_dir() / "tests/predict/data";

/// A new folder with one event file.
std::string folder_with(const std::string& name, const std::string& bytes) {
  const std::filesystem::path folder = testing::TempDir() + "event_files_test_" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "events.out.tfevents.1.host", std::ios::binary) << bytes;
  return folder.string();
}
std::string first_file() { return read_file((written / "events.out.tfevents.1.host").string()); }
std::string message(const std::string& folder) {
  try {
    read_event_files(folder);
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "";
}

TEST(EventFiles, OfTensorBoardGiveTheScalarsOfEachStep) {
  const Table table = read_event_files(written.string());
  EXPECT_THAT(table.names, ElementsAre("step", "lr", "train/loss", "eval/loss"));
  EXPECT_THAT(table.columns[0], ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(table.columns[1], ElementsAre(.5, .5, .5, .5, .25, .25));
  EXPECT_THAT(table.columns[2], ElementsAre(3.75, 3.5, 3.25, 3, 1.375, -HUGE_VAL))
      << "NaN, as in other files of logs";
  EXPECT_EQ(table.columns[3][1], 4.5);
  EXPECT_TRUE(std::isnan(table.columns[3][0])) << "a scalar that the step does not have";
}

TEST(EventFiles, AreReadAsALog) {
  const std::vector<LogRow> rows = read_log_rows(written.string()).rows;
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[1].step, 2);
  EXPECT_EQ(rows[1].loss, 3.5);
  EXPECT_EQ(rows[1].rate, .5);
  EXPECT_EQ(rows[1].validation, 4.5);
}

TEST(EventFiles, OfTagsThatAreNotWantedOnlyTheNamesAreKept) {
  const Table table =
      read_event_files(written.string(), [](std::string_view tag) { return tag == "eval/loss"; });
  EXPECT_THAT(table.names, ElementsAre("step", "eval/loss", "lr", "train/loss"));
  EXPECT_THAT(table.columns, ElementsAre(ElementsAre(2), ElementsAre(4.5), IsEmpty(), IsEmpty()));
}

TEST(EventFiles, AColumnThatIsNamedIsReadThoughItHasNoUsualName) {
  const std::vector<LogRow> rows = read_log_rows(written.string(), {.validation = "lr"}).rows;
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0].validation, .5);
  EXPECT_EQ(rows[0].loss, 3.75);
  try {
    read_log_rows(written.string(), {.loss = "perplexity"});
    FAIL() << "there is no such column";
  } catch (const InvalidArgument& e) {
    EXPECT_THAT(e.what(), HasSubstr("there is no column 'perplexity' (--loss); its columns are step, lr, "));
    EXPECT_THAT(e.what(), HasSubstr("train/loss"));
  }
}

TEST(EventFiles, AFileThatGrowsIsReadToItsLastWholeRecord) {
  const std::string all = first_file();
  for (std::size_t cut = 1; cut < 40; ++cut) {
    const Table table = read_event_files(folder_with("growing", all.substr(0, all.size() - cut)));
    EXPECT_GE(table.rows(), 5u) << cut;
  }
}

TEST(EventFiles, ADamagedByteIsFoundWhereverItIs) {
  const std::string all = first_file();
  for (std::size_t at = 0; at < all.size(); ++at) {
    std::string damaged = all;
    damaged[at] = char(damaged[at] ^ 4);
    EXPECT_THAT(message(folder_with("damaged", damaged)), HasSubstr("wrong checksum")) << "byte " << at;
  }
}

TEST(EventFiles, AFolderWithoutScalarsIsRefused) {
  const std::filesystem::path empty = testing::TempDir() + "event_files_test_empty";
  std::filesystem::create_directory(empty);
  EXPECT_THAT(message(empty.string()), HasSubstr("holds no event files of TensorBoard"));
  EXPECT_THAT(message(folder_with("none", "")), HasSubstr("hold no scalars"));
}

}  // namespace
}  // namespace kolmo::predict
