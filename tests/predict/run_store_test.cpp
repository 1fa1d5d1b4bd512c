#include "kolmo/predict/model/run_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "kolmo/base/error.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/predict/simulated_runs.hpp"

namespace kolmo::predict {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const TrainingOptions quick{.members = 2, .hidden = 8, .epochs = 2, .threads = 1};

class RunStoreTest : public testing::Test {
 protected:
  static std::vector<PastRun> some_runs(int count, int steps = 400) {
    std::vector<PastRun> all;
    for (const Blocks& b : simulated::runs(count, steps))
      all.push_back({"run " + std::to_string(all.size()), b});
    return all;
  }
  std::string model_file() const { return folder_ + "/v1/model.kolmo"; }
  static void write(const std::string& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
  }
  std::size_t files() const {
    std::size_t n = 0;
    for (const auto& f : fs::recursive_directory_iterator(folder_)) n += f.is_regular_file();
    return n;
  }
  testing_io::TemporaryFolder parent_;
  std::string folder_ = parent_ / "store";
};

TEST_F(RunStoreTest, GivesBackRunsAndModelBitByBit) {
  const auto runs = some_runs(5);
  const TrainedStore done = train_store(runs, folder_, quick);
  EXPECT_EQ(done.runs, 5u);
  EXPECT_THAT(done.left_out, IsEmpty());
  const RunStore store = RunStore::open(folder_);
  EXPECT_THAT(store.warnings(), IsEmpty());
  EXPECT_THAT(store.model_source(), HasSubstr("5 runs, "));
  ASSERT_EQ(store.runs().size(), 5u);
  for (const PastRun& run : runs) {
    const auto found = std::find_if(store.runs().begin(), store.runs().end(),
                                    [&](const PastRun& stored) { return stored.name == run.name; });
    ASSERT_NE(found, store.runs().end());
    EXPECT_EQ(found->blocks.loss, run.blocks.loss);
    EXPECT_EQ(found->blocks.slope, run.blocks.slope);
    EXPECT_EQ(found->blocks.end, run.blocks.end);
  }
  ASSERT_TRUE(store.model());
  EXPECT_EQ(store.model()->members(), done.model->members());
  ASSERT_EQ(store.model()->residuals()[9].size(), done.model->residuals()[9].size());
  EXPECT_EQ(store.model()->residuals()[9][3].error, done.model->residuals()[9][3].error);
  EXPECT_EQ(store.model()->residuals()[9][3].unit, done.model->residuals()[9][3].unit);

  train_store(runs, folder_, quick);
  EXPECT_EQ(files(), 6u) << "the same runs again";
}

TEST_F(RunStoreTest, ARunOfAnotherNameIsTheSameRun) {
  std::vector<PastRun> runs = some_runs(4);
  const TrainedStore done = train_store(runs, folder_, quick);
  for (PastRun& run : runs) run.name = "copy of " + run.name;
  std::reverse(runs.begin(), runs.end());
  EXPECT_EQ(train_store(runs, folder_, quick).runs, 4u);
  const TrainedStore others = train_store(runs, folder_ + " of others", quick);
  EXPECT_EQ(others.model->members(), done.model->members()) << "names and their order change nothing";
}

TEST_F(RunStoreTest, SaysWhatIsDamagedAndGoesOnWithoutIt) {
  train_store(some_runs(3), folder_, quick);
  const std::string whole = testing_io::content_of(model_file());
  const auto warning = [&](const std::string& text) {
    write(model_file(), text);
    const RunStore store = RunStore::open(folder_);
    EXPECT_FALSE(store.model());
    EXPECT_EQ(store.model_source(), "");
    EXPECT_EQ(store.runs().size(), 3u);
    return store.warnings().size() == 1 ? store.warnings()[0] : "";
  };
  for (const std::size_t at : {whole.size() / 4, whole.size() / 2, whole.size() - 1}) {
    std::string text = whole;
    text[at] = char(text[at] ^ 4);
    EXPECT_THAT(warning(text), HasSubstr("model.kolmo: is damaged: its checksum"));
  }
  for (const std::size_t length : {0ul, 5ul, 14ul, 40ul})
    EXPECT_THAT(warning(whole.substr(0, length)), HasSubstr("model.kolmo: is "));
  EXPECT_THAT(warning(whole.substr(0, whole.size() - 8)), HasSubstr("is damaged"));
  EXPECT_THAT(warning("kolmo-predict 2" + whole.substr(15)),
              HasSubstr("has format 2, but this Kolmo reads format 1; train the store again"));
  fs::remove(model_file());
  EXPECT_THAT(RunStore::open(folder_).warnings(), ElementsAre(HasSubstr("has no trained model")));
  fs::create_symlink("/dev/zero", model_file());
  EXPECT_FALSE(RunStore::open(folder_).model());
}

TEST_F(RunStoreTest, LeavesOutADamagedRunAndSaysSo) {
  train_store(some_runs(3), folder_, quick);
  const std::string run = fs::directory_iterator(folder_ + "/v1/runs")->path().string();
  write(run, testing_io::content_of(run).substr(0, 500));
  EXPECT_THAT(RunStore::open(folder_).warnings(), ElementsAre(HasSubstr("is damaged")));
  const TrainedStore done = train_store(some_runs(1), folder_, quick);
  EXPECT_LE(done.runs, 3u);
  EXPECT_THAT(done.left_out.size() + done.runs, 3u);
}

TEST_F(RunStoreTest, LearnsNothingFromShortAndDivergedRuns) {
  auto runs = some_runs(3);
  for (PastRun& more : some_runs(1, 150)) runs.push_back({"short", more.blocks});
  runs[1].blocks.loss[7] = -1, runs[1].name = "below zero";
  const TrainedStore done = train_store(runs, folder_, quick);
  EXPECT_EQ(done.runs, 2u);
  EXPECT_THAT(done.left_out, ElementsAre("below zero: has losses that are not positive and finite",
                                         "short: has 15 blocks of 10 steps, and 20 are needed"));
  EXPECT_THAT(
      testing_io::message_of<InvalidArgument>([&] { train_store({runs[3]}, parent_ / "other", quick); }),
      HasSubstr("no run can be learned from; short: has 15 blocks"));
}

TEST_F(RunStoreTest, KeepsTheRunsThatWereAddedLast) {
  auto runs = some_runs(4, 300);
  train_store({runs[0]}, folder_, quick);
  const std::string first = fs::directory_iterator(folder_ + "/v1/runs")->path().string();
  for (std::size_t i = 0; i < RunStore::most_runs; ++i) {
    const std::string copy = folder_ + "/v1/runs/" + std::to_string(i) + ".kolmo";
    write(copy, "not a run");
    fs::last_write_time(copy, fs::last_write_time(first) - std::chrono::hours(1 + i));
  }
  train_store({runs[1]}, folder_, quick);
  EXPECT_EQ(files(), RunStore::most_runs + 1);
  EXPECT_EQ(RunStore::open(folder_).runs().size(), 2u);
  EXPECT_FALSE(fs::exists(folder_ + "/v1/runs/" + std::to_string(RunStore::most_runs - 1) + ".kolmo"));
}

TEST_F(RunStoreTest, AFullDiskLeavesThePreviousModel) {
  train_store(some_runs(2), folder_, quick);
  const std::string before = testing_io::content_of(model_file());
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &small);
    try {
      train_store({}, folder_, quick);
    } catch (const Error&) {
      ::_exit(3);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(testing_io::content_of(model_file()), before);
  EXPECT_EQ(files(), 3u) << "nothing half written remains";
}

TEST_F(RunStoreTest, TwoProcessesShareIt) {
  train_store(some_runs(2), folder_, quick);
  std::vector<pid_t> children;
  for (int process = 0; process < 2; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        for (int i = 0; i < 3; ++i) train_store(some_runs(2 + process + 2 * i), folder_, quick);
      } catch (...) {
        ::_exit(3);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (int i = 0; i < 200; ++i) {
    const RunStore store = RunStore::open(folder_);
    EXPECT_TRUE(store.model());
    EXPECT_THAT(store.warnings(), IsEmpty());
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(RunStore::open(folder_).runs().size(), 7u);
}

TEST_F(RunStoreTest, AFolderThatIsNotThereIsAnError) {
  EXPECT_THAT(testing_io::message_of<InvalidArgument>([&] { RunStore::open(folder_); }),
              HasSubstr("is no folder of a run store; kolmo forecast --train-store RUNS --store"));
}

}  // namespace
}  // namespace kolmo::predict
