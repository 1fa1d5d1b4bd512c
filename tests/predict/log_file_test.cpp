#include "kolmo/predict/record/log_file.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "kolmo/base/error.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo::predict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string file(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "log_file_test_" + name;
  write_file(path, text);
  return path;
}
std::string message(const std::string& path, const LogColumns& columns = {}) {
  try {
    read_log_rows(path, columns);
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "";
}

TEST(LogFile, CsvAndJsonLinesGiveTheSameRows) {
  const std::string csv =
      file("a.csv", "step,loss,gradient_norm,rate\n1,2.5,1,0.1\n2,nan,,0.1\n3,inf,2,\n4,2,3,0.05\n");
  const std::string lines =
      file("a.jsonl",
           "{\"step\": 1, \"loss\": 2.5, \"gradient_norm\": 1, \"rate\": 0.1, \"note\": \"NaN\"}\n"
           "{\"step\": 2, \"loss\": NaN, \"rate\": 0.1}\n\n{\"step\": 3, \"loss\": Infinity, "
           "\"gradient_norm\": 2}\n"
           "{\"step\": 4, \"loss\": 2, \"gradient_norm\": 3, \"rate\": 0.05}\n");
  for (const std::string& path : {csv, lines}) {
    const std::vector<LogRow> rows = read_log_rows(path);
    ASSERT_EQ(rows.size(), 4u) << path;
    EXPECT_EQ(rows[0].loss, 2.5);
    EXPECT_TRUE(std::isinf(rows[1].loss) && std::isinf(rows[2].loss))
        << "both are losses that are no finite number";
    EXPECT_TRUE(std::isnan(rows[1].gradient_norm) && std::isnan(rows[2].rate)) << "unknown";
    EXPECT_EQ(rows[3].rate, .05);
  }
}

TEST(LogFile, WandbsNamesAreKnownAndRowsOfOneStepAreJoined) {
  const std::string path =
      file("w.csv",
           "\"Step\",\"run 1 - loss\",\"run 1 - loss__MIN\",\"run 1 - loss__MAX\",\"val_loss\"\n"
           "10,3,3,3,\n10,,,,4\n20,2,2,2,\n");
  const std::vector<LogRow> rows = read_log_rows(path);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].loss, 3);
  EXPECT_EQ(rows[0].validation, 4);
  EXPECT_EQ(rows[1].step, 20);
}

TEST(LogFile, ErrorsNameFileRowAndColumn) {
  EXPECT_THAT(message(file("b.csv", "step,lost\n1,2\n")),
              testing::AllOf(HasSubstr("b.csv"), HasSubstr("--loss")));
  EXPECT_THAT(message(file("c.csv", "step,loss\n1,2\n1.5,2\n")),
              testing::AllOf(HasSubstr("row 2"), HasSubstr("step"), HasSubstr("1.5")));
  EXPECT_THAT(message(file("d.csv", "step,loss,rate\n1,2,0.1\n2,2,-0.1\n")),
              testing::AllOf(HasSubstr("row 2"), HasSubstr("rate")));
  EXPECT_THAT(message(file("e.csv", "step,loss\n1,2\n2,what\n")), HasSubstr("e.csv:3"));
  EXPECT_THAT(message(file("f.jsonl", "{\"loss\": 1}\n[1]\n")), HasSubstr("f.jsonl:2"));
  EXPECT_THAT(message(file("g.csv", "Step,a - loss,b - loss\n1,2,3\n")),
              testing::AllOf(HasSubstr("a - loss"), HasSubstr("b - loss")));
  EXPECT_THAT(message(file("h.csv", "step,loss\n1,2\n"), {.rate = "eta"}), HasSubstr("'eta' (--rate)"));
  EXPECT_THAT(message(testing::TempDir()), HasSubstr("folder"));
  EXPECT_EQ(message(file("i.csv", "step,loss,x - loss\n1,2,3\n")), "") << "an exact name wins";
}

TEST(LogFile, WhatIsWrittenIsReadBack) {
  TrainingLog log;
  for (int t = 1; t <= 30; ++t)
    log.append(
        {.step = t, .loss = t == 7 ? INFINITY : 1. / t, .rate = .1, .validation = t % 10 ? unknown : .5});
  for (const char* name : {"out.csv", "out.jsonl"}) {
    const std::string path = testing::TempDir() + "log_file_test_" + name;
    write_log(path, log);
    const std::vector<LogRow> rows = read_log_rows(path);
    ASSERT_EQ(rows.size(), 30u) << name;
    for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(rows[i].loss, log.rows()[i].loss) << name;
    EXPECT_EQ(rows[9].validation, .5);
    EXPECT_TRUE(std::isnan(rows[8].validation));
    EXPECT_THAT(read_file(path), testing::Not(HasSubstr("gradient_norm")));
  }
}

TEST(LogFile, RatesToComeMayBeOfTheWholeSchedule) {
  EXPECT_THAT(read_rates(file("r.csv", "rate\n3\n2\n"), 5), ElementsAre(3, 2));
  EXPECT_THAT(read_rates(file("s.csv", "step,lr\n4,9\n5,8\n6,7\n7,6\n"), 5), ElementsAre(7, 6));
  EXPECT_THROW(read_rates(file("t.csv", "step,lr\n7,6\n"), 5), InvalidArgument);  // step 6 is missing
  EXPECT_THROW(read_rates(file("u.csv", "step,lr\n4,6\n"), 5), InvalidArgument);
  EXPECT_THROW(read_rates(file("v.csv", "rate\n-1\n"), 5), InvalidArgument);
}

}  // namespace
}  // namespace kolmo::predict
