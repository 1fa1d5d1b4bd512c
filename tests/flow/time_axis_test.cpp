// Times of rows as steps: dates, months, weekdays, numbers; what is refused.
#include "kolmo/flow/data/time_axis.hpp"

#include <gmock/gmock.h>

#include "kolmo/base/error.hpp"
#include "kolmo/io/date.hpp"

namespace kolmo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RowTimes dates(const std::vector<std::string>& texts) {
  RowTimes times{"when"};
  for (const std::string& text : texts) times.dates.push_back(parse_date(text).value());
  return times;
}
RowTimes numbers(std::vector<double> values) { return {"t", {}, std::move(values)}; }

Table table_of(const RowTimes& times, const std::vector<std::int32_t>& trial = {}) {
  Table table;
  table.file = "d.csv", table.times = times, table.trial = trial;
  return table;
}

TimeAxis axis_of(const RowTimes& times, const std::vector<std::int32_t>& trial = {}) {
  std::vector<Warning> warnings;
  TimeAxis axis = time_axis(table_of(times, trial), warnings);
  EXPECT_EQ(warnings.empty(), axis.step.has_value());
  return axis;
}

std::string refusal(const RowTimes& times, const std::vector<std::int32_t>& trial = {}) {
  try {
    axis_of(times, trial);
  } catch (const InvalidArgument& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST(Dates, AreReadAsIsoWritesThem) {
  EXPECT_EQ(parse_date("1970-01-01"), 0);
  EXPECT_EQ(parse_date("1970-01-02T00:00:01.5Z"), microseconds_a_day + 1500000);
  EXPECT_EQ(parse_date("1970-01-01 01:30+01:30"), 0);
  EXPECT_EQ(parse_date("1969-12"), -31 * microseconds_a_day);
  EXPECT_EQ(parse_date("2024/02/29"), parse_date("2024-02-29"));
  for (const char* text :
       {"", "2023-02-29", "2024-13-01", "24-01-01", "2024", "2024-1-1", "2024-01-01T", "2024-01-01x",
        "2024-01/01", "2024-01-01T25:00", "12:30", "-024-01-01", "2024-01-01T10:00 CET"})
    EXPECT_FALSE(parse_date(text)) << text;
  for (const char* text :
       {"1969-12-31", "2024-02-29T23:59", "2024-02-29T23:59:58", "1900-01-01T00:00:00.000250"})
    EXPECT_EQ(date_text(*parse_date(text)), text);
}

TEST(TimeAxis, CountsAbsentRows) {
  const TimeAxis a = axis_of(dates({"2024-01-01", "2024-01-02", "2024-01-06", "2024-01-07", "2024-01-09"}));
  EXPECT_THAT(a.steps, ElementsAre(0, 1, 5, 6, 8));
  EXPECT_EQ(a.gaps, 2);
  EXPECT_EQ(a.absent, 4);
  EXPECT_EQ(a.step, 1);
  EXPECT_EQ(a.unit, "day");
  EXPECT_EQ(a.first, "2024-01-01");
  EXPECT_EQ(a.last, "2024-01-09");
}

TEST(TimeAxis, ChoosesTheUnitOfDates) {
  const auto step = [](const std::vector<std::string>& texts) {
    const TimeAxis a = axis_of(dates(texts));
    return std::pair(a.step.value(), a.unit);
  };
  EXPECT_EQ(step({"2024-01-01T00:00", "2024-01-01T06:00"}), (std::pair(6.0, std::string("h"))));
  EXPECT_EQ(step({"2024-01-01T00:00", "2024-01-01T00:15"}), (std::pair(15.0, std::string("min"))));
  EXPECT_EQ(step({"2024-01-01T00:00", "2024-01-01T00:00:00.004"}), (std::pair(4.0, std::string("ms"))));
  EXPECT_EQ(step({"2024-01", "2024-02", "2024-03"}), (std::pair(1.0, std::string("month"))));
  EXPECT_EQ(step({"2024-03-31", "2024-06-30", "2024-09-30"}), (std::pair(3.0, std::string("month"))));
  EXPECT_EQ(step({"1990-07-01", "1991-07-01", "1992-07-01"}), (std::pair(1.0, std::string("year"))));
}

TEST(TimeAxis, DoesNotCountWeekends) {
  RowTimes times{"when"};
  for (std::int64_t day = 4; day < 40; ++day)  // from Monday, 1970-01-05
    if ((day + 3) % 7 < 5 && day != 20) times.dates.push_back(day * microseconds_a_day);
  const TimeAxis a = axis_of(times);
  EXPECT_EQ(a.calendar, "weekdays");
  EXPECT_EQ(a.gaps, 1) << "the holiday";
  EXPECT_EQ(a.absent, 1);
}

TEST(TimeAxis, AllowsJitterAndRounding) {
  const TimeAxis even = axis_of(numbers({0, 0.1, 0.2, 0.30000000000000004, 0.5}));
  EXPECT_THAT(even.steps, ElementsAre(0, 1, 2, 3, 5));
  EXPECT_DOUBLE_EQ(*even.step, 0.1);
  const TimeAxis rough = axis_of(numbers({0, 1.02, 1.97, 3.01, 3.99, 5.03, 7.02}));
  EXPECT_THAT(rough.steps, ElementsAre(0, 1, 2, 3, 4, 5, 7));
  EXPECT_NEAR(*rough.step, 1, 0.01);
  EXPECT_THAT(axis_of(numbers({5, 6, 7})).steps, IsEmpty()) << "rows are steps";
}

TEST(TimeAxis, WarnsOfTimesWithoutAStep) {
  std::vector<Warning> warnings;
  const TimeAxis a = time_axis(table_of(numbers({0, 1, 2.4, 2.9, 5.55, 5.6, 9.31, 9.5})), warnings);
  EXPECT_FALSE(a.step);
  EXPECT_THAT(a.steps, IsEmpty());
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].name, "irregular_time");
}

TEST(TimeAxis, TrialsFollowOneAnother) {
  const TimeAxis a = axis_of(numbers({0, 1, 3, 0, 1, 2}), {0, 0, 0, 1, 1, 1});
  EXPECT_THAT(a.steps, ElementsAre(0, 1, 3, 4, 5, 6));
  EXPECT_EQ(a.gaps, 1);
}

TEST(TimeAxis, RefusesWhatHasNoOrder) {
  EXPECT_THAT(refusal(numbers({3, 2, 1, 0})),
              testing::AllOf(HasSubstr("d.csv: row 1"), HasSubstr("'t' descends"), HasSubstr("from 3 to 0"),
                             HasSubstr("sort the rows")));
  EXPECT_THAT(refusal(numbers({0, 1, 1, 2})),
              testing::AllOf(HasSubstr("row 2"), HasSubstr("as in the row before")));
  EXPECT_THAT(refusal(numbers({0, 2, 1, 3})), testing::AllOf(HasSubstr("row 2"), HasSubstr("--trials")));
  EXPECT_THAT(refusal(numbers({0, NAN, 1})), HasSubstr("row 1: the time 't' has no value"));
  EXPECT_THAT(refusal(numbers({0, 1, 5, 4}), {0, 0, 1, 1}), HasSubstr("row 3"));
}

}  // namespace
}  // namespace kolmo
