#include "kolmo/predict/record/log_file.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "kolmo/base/error.hpp"
#include "kolmo/io/atomic_file.hpp"
#include "kolmo/io/file.hpp"
#include "tests/io/temporary_folder.hpp"

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
    const std::vector<LogRow> rows = read_log_rows(path).rows;
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
  const std::vector<LogRow> rows = read_log_rows(path).rows;
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

TEST(LogFile, ALastLineThatMayBeHalfWrittenIsLeftOutAndNoted) {
  for (const auto& [name, text] :
       {std::pair("cut.csv", "step,loss\n1,2.5\n2,2.25\n3,2.1"),
        std::pair("cell.csv", "step,loss\n1,2.5\n2,2.25\n3"),
        std::pair("cut.jsonl", "{\"loss\": 2.5}\n{\"loss\": 2.25}\n{\"loss\": 2")}) {
    const LogRows read = read_log_rows(file(name, text));
    ASSERT_EQ(read.rows.size(), 2u) << name;
    EXPECT_EQ(read.rows[1].loss, 2.25);
    EXPECT_THAT(read.notes, ElementsAre(testing::AllOf(HasSubstr(name), HasSubstr("no line end")))) << name;
  }
  const LogRows whole = read_log_rows(file("whole.jsonl", "{\"loss\": 2.5}\n{\"loss\": 2.25}"));
  EXPECT_EQ(whole.rows.size(), 2u);
  EXPECT_THAT(whole.notes, ElementsAre());
  EXPECT_THAT(message(file("middle.jsonl", "{\"loss\": 2.5}\n{\"loss\n{\"loss\": 2}\n")),
              HasSubstr("middle.jsonl:2"));
  EXPECT_THAT(read_rates(file("plan.csv", "rate\n3\n2"), 5), ElementsAre(3, 2)) << "no one is writing a plan";
}

std::string steps(std::initializer_list<std::pair<int, int>> ranges) {
  std::string text = "step,loss\n";
  for (const auto& [first, last] : ranges)
    for (int step = first; step != last; step += first < last ? 1 : -1) text += std::to_string(step) + ",2\n";
  return text;
}

TEST(LogFile, StepsThatGoBackAreNotedAndThoseInNoOrderRefused) {
  EXPECT_THAT(read_log_rows(file("once.csv", steps({{1, 50}}))).notes, ElementsAre());
  EXPECT_THAT(read_log_rows(file("back.csv", steps({{1, 50}, {30, 60}}))).notes,
              ElementsAre(testing::AllOf(HasSubstr("back.csv: row 50, column step"),
                                         HasSubstr("from 49 to 30"), HasSubstr("from a checkpoint"))));
  EXPECT_THAT(read_log_rows(file("anew.csv", steps({{1, 50}, {30, 60}, {1, 20}}))).notes,
              ElementsAre(testing::AllOf(HasSubstr("from 59 to 1"), HasSubstr("the last of 2 times"),
                                         HasSubstr("no row before counts"))));
  EXPECT_THAT(
      message(file("reversed.csv", steps({{50, 1}}))),
      testing::AllOf(HasSubstr("reversed.csv: row 2"), HasSubstr("48 of 49 rows"), HasSubstr("sort")));
  const LogRows late = read_log_rows(file("late.csv", "step,loss,val_loss\n1,5,\n2,4,\n3,3,\n2,,7\n"));
  ASSERT_EQ(late.rows.size(), 3u) << "a held-out loss that came late is joined to its step";
  EXPECT_EQ(late.rows[1].validation, 7);
  EXPECT_EQ(late.rows[1].loss, 4);
}

TEST(LogFile, MarksOfUnknownValuesAndOfDecimalsAreOptions) {
  const LogRows read = read_log_rows(file("marks.csv", "step;loss\n1;2,5\n2;what\n3;2,25\n"),
                                     {.na = "what", .decimal = DecimalMark::comma});
  ASSERT_EQ(read.rows.size(), 2u);
  EXPECT_EQ(read.rows[0].loss, 2.5);
  EXPECT_EQ(read_log_rows(file("marks.jsonl", "{\"loss\": \"-\"}\n{\"loss\": 2}\n"), {.na = "-"}).rows.size(),
            1u);
  EXPECT_THAT(message(file("names.csv", "step,verlust\xe9\n1,2\n")), HasSubstr("names.csv:1"));
  EXPECT_THAT(message(file("bytes.csv", "{\xe2\x28\n")),
              testing::AllOf(HasSubstr("bytes.csv:1"), HasSubstr("\\xe2")));
}

TEST(LogFile, NanIsAnUnknownRateAndNoFiniteLoss) {
  const LogRows read =
      read_log_rows(file("nan.csv", "step,loss,rate\n1,2,.1\n2,nan,nan\n3,1.5,\n4,inf,.1\n"), {});
  ASSERT_EQ(read.rows.size(), 4u);
  EXPECT_TRUE(std::isnan(read.rows[1].rate));
  EXPECT_EQ(read.rows[1].loss, std::numeric_limits<double>::infinity());
  EXPECT_EQ(read.rows[3].loss, std::numeric_limits<double>::infinity());
  EXPECT_THAT(message(file("inf.csv", "step,loss,rate\n1,2,.1\n2,2,inf\n")), HasSubstr("inf is no rate"));
  EXPECT_THAT(testing_io::message_of<InvalidArgument>(
                  [&] { read_rates(file("plan.csv", "rate\n.1\nnan\n"), 5, {}); }),
              HasSubstr("nan is no rate"));
}

TEST(LogFile, WhatIsWrittenIsReadBack) {
  TrainingLog log;
  for (int t = 1; t <= 30; ++t)
    log.append(
        {.step = t, .loss = t == 7 ? INFINITY : 1. / t, .rate = .1, .validation = t % 10 ? unknown : .5});
  for (const char* name : {"out.csv", "out.jsonl"}) {
    const std::string path = testing::TempDir() + "log_file_test_" + name;
    write_log(path, log);
    const std::vector<LogRow> rows = read_log_rows(path).rows;
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
