#include "kolmo/flow/data/time_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kolmo/base/error.hpp"
#include "kolmo/io/date.hpp"
#include "kolmo/io/file.hpp"

namespace kolmo {
namespace {

constexpr double tolerance = 0.1;  // of a step

std::string label(const RowTimes& t) {
  return t.name.empty() ? "the index" : "the time '" + printable(t.name, 200) + "'";
}

/// Holds times as numbers in a unit.
struct Clock {
  std::vector<double> at;
  std::string unit, calendar;
};

std::int64_t floor_of(std::int64_t number, std::int64_t divisor) {
  return number / divisor - (number % divisor < 0);
}

std::int64_t day_of(std::int64_t us) { return floor_of(us, microseconds_a_day); }

bool is_month_end(std::int64_t day) { return civil_date(day + 1).day == 1; }

/// Returns dates as numbers of months, if they are of one day of the month, or all of its last day.
std::optional<Clock> in_months(std::span<const std::int64_t> dates) {
  Clock c{{}, "month", ""};
  const std::int64_t rest = dates[0] - day_of(dates[0]) * microseconds_a_day;
  const int day = civil_date(day_of(dates[0])).day;
  bool same_day = true, last_day = true;
  for (const std::int64_t us : dates) {
    const CivilDate d = civil_date(day_of(us));
    same_day &= d.day == day, last_day &= is_month_end(day_of(us));
    if ((!same_day && !last_day) || us - day_of(us) * microseconds_a_day != rest) return {};
    c.at.push_back(double(d.year * 12 + d.month));
  }
  c.calendar = "months";
  return c;
}

/// Returns dates as numbers of weekdays, if they are days of which none is a Saturday or Sunday, and Mondays follow Fridays.
std::optional<Clock> in_weekdays(std::span<const std::int64_t> dates) {
  Clock c{{}, "weekday", "weekdays"};
  std::int64_t before = 0, follow = 0, weeks = 0;
  for (const std::int64_t us : dates) {
    const std::int64_t day = day_of(us), week = floor_of(day + 3, 7), of_week = day + 3 - 7 * week;
    if (us != day * microseconds_a_day || of_week > 4) return {};
    if (!c.at.empty() && of_week == 0) ++weeks, follow += day - before == 3;
    before = day;
    c.at.push_back(double(5 * week + of_week));
  }
  if (weeks < 2 || 2 * follow < weeks) return {};
  return c;
}

/// Returns the largest unit of which `step`, in seconds, is a whole number, and converts `step` into it.
std::string unit_of(double& step) {
  static constexpr std::array<std::pair<double, const char*>, 4> units{
      {{86400, "day"}, {3600, "h"}, {60, "min"}, {1, "s"}}};
  for (const auto& [seconds, name] : units)
    if (const double count = step / seconds; count >= 1 && std::abs(count - std::round(count)) < 1e-9)
      return step = std::round(count), name;
  if (step >= 1) return "s";
  return step *= 1000, "ms";
}

Clock clock_of(const RowTimes& t) {
  if (t.dates.empty()) return {t.numbers, t.unit, ""};
  if (auto months = in_months(t.dates)) return *months;
  if (auto weekdays = in_weekdays(t.dates)) return *weekdays;
  Clock c{{}, "s", ""};
  for (const std::int64_t us : t.dates) c.at.push_back(double(us - t.dates[0]) / 1e6);
  return c;
}

/// The share of differences that are multiples of a step, up to the tolerance.
double share_of_multiples(std::span<const double> differences, double step) {
  const auto whole = std::count_if(differences.begin(), differences.end(), [&](double d) {
    const double n = std::round(d / step);
    return n >= 1 && std::abs(d / step - n) <= tolerance;
  });
  return double(whole) / double(differences.size());
}

/// The step of differences, or 0 if they have none.
double step_of(std::vector<double> d) {
  constexpr double most = 0.9;
  const auto middle = d.begin() + std::ptrdiff_t(d.size() / 2);
  std::nth_element(d.begin(), middle, d.end());
  const double smallest = *std::min_element(d.begin(), middle + 1);
  double step = 0;
  for (const double candidate : {smallest, *middle})
    if (step == 0 && share_of_multiples(d, candidate) >= most) step = candidate;
  if (step == 0) return 0;
  double steps = 0, time = 0;
  for (const double x : d) steps += std::max(1.0, std::round(x / step)), time += x;
  const double refined = time / steps;  // so that the jitter of one difference does not matter
  return std::abs(refined - step) <= 1e-9 * step ? step : refined;
}

/// Compares the times of rows that follow each other in a trial.
class Checked {
 public:
  Checked(const Table& table, const Clock& c) : table_(table), t_(*table.times), c_(c) {}

  bool starts(std::size_t row) const {
    const std::vector<std::int32_t>& trial = table_.trial;
    return row == 0 || (!trial.empty() && trial[row] != trial[row - 1]);
  }

  std::vector<double> differences() const {
    for (std::size_t i = 0; i < t_.numbers.size(); ++i)
      if (!std::isfinite(t_.numbers[i])) fail_at(i, "has no value");
    std::vector<double> all;
    for (std::size_t i = 1; i < c_.at.size(); ++i) {
      if (starts(i)) continue;
      const double d = time(i) - time(i - 1);
      if (!(d > 0)) refuse(i, d);
      all.push_back(c_.at[i] - c_.at[i - 1]);
    }
    return all;
  }

 private:
  double time(std::size_t i) const {
    return t_.dates.empty() ? t_.numbers[i] : double(t_.dates[i] - t_.dates[0]);
  }
  [[noreturn]] void fail_at(std::size_t row, const std::string& what) const {
    fail<InvalidArgument>(
        fmt::format("{}: row {}: {} {}", table_.file, table_.row_of_file(row), label(t_), what));
  }
  [[noreturn]] void refuse(std::size_t i, double d) const {
    const std::string now = time_text(t_, i), before = time_text(t_, i - 1);
    if (d == 0)
      fail_at(i, "is " + now +
                     " as in the row before; a time occurs once, unless --trials tells apart the "
                     "series that rows belong to; --time none takes rows as they are");
    std::size_t end = i + 1;
    while (end < c_.at.size() && !starts(end) && time(end) < time(end - 1)) ++end;
    const bool whole = starts(i - 1) && (end == c_.at.size() || starts(end)) && end > i + 1;
    if (whole)
      fail_at(i, fmt::format(
                     "descends, from {} to {}; the oldest row comes first, or every direction is reversed: "
                     "sort the rows by {}, or give --time none if their order is right",
                     time_text(t_, i - 1), time_text(t_, end - 1), label(t_)));
    fail_at(i, fmt::format(
                   "is {}, and {} in the row before; sort the rows by {}, give --trials if they belong to "
                   "several series, or --time none if their order is right",
                   now, before, label(t_)));
  }

  const Table& table_;
  const RowTimes& t_;
  const Clock& c_;
};

}  // namespace

std::string time_text(const RowTimes& t, std::size_t row) {
  return t.dates.empty() ? fmt::format("{}", t.numbers[row]) : date_text(t.dates[row]);
}

TimeAxis time_axis(const Table& table, std::vector<Warning>& warnings) {
  const RowTimes& times = *table.times;
  TimeAxis axis{times.name, {}, {}, "", "", "", 0, 0, ""};
  if (times.size() == 0) return axis;
  const Clock clock = clock_of(times);
  const Checked checked(table, clock);
  const std::vector<double> differences = checked.differences();
  axis.first = time_text(times, 0), axis.last = time_text(times, times.size() - 1);
  if (differences.empty()) return axis;
  double step = step_of(differences);
  if (step == 0) {
    warnings.push_back(
        {"irregular_time", fmt::format("{} has no step of which most differences are multiples; rows are "
                                       "taken as equal steps: resample the series, or give --time none",
                                       label(times))});
    return axis;
  }
  std::vector<std::int64_t> steps{0};
  std::size_t next = 0;
  for (std::size_t i = 1; i < clock.at.size(); ++i) {
    std::int64_t forward = 1;
    if (!checked.starts(i))
      forward = std::max<std::int64_t>(1, std::llround(std::min(differences[next++] / step, 0x1p40)));
    axis.gaps += forward > 1, axis.absent += forward - 1;
    steps.push_back(steps.back() + forward);
  }
  if (axis.gaps) axis.steps = std::move(steps);
  axis.calendar = clock.calendar, axis.unit = clock.unit;
  if (axis.unit == "month" && std::fmod(step, 12) == 0) step /= 12, axis.unit = "year";
  if (!times.dates.empty() && clock.calendar.empty()) axis.unit = unit_of(step);
  axis.step = step;
  return axis;
}

}  // namespace kolmo
