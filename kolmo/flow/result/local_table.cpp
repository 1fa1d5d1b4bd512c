#include "kolmo/flow/result/local_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "kolmo/base/error.hpp"
#include "kolmo/io/csv_cell.hpp"

namespace kolmo {
namespace {

/// A sum of values and their number.
struct Sum {
  double value = 0;
  std::int64_t count = 0;

  Sum operator+(const Sum& o) const { return {value + o.value, count + o.count}; }
};

/// Replaces every row by the sum of the `window` rows that end with it. Rows are cut into blocks of `window`,
/// so that every sum is the sum over the end of one block and the start of the next (van Herk, Pattern
/// Recognit. Lett. 13, 517, 1992).
void sum_windows(std::vector<Sum>& rows, std::size_t window) {
  std::vector<Sum> end = rows;
  for (std::size_t t = rows.size(); t-- > 1;)
    if (t % window) end[t - 1] = end[t - 1] + end[t];
  for (std::size_t t = 1; t < rows.size(); ++t)
    if (t % window) rows[t] = rows[t] + rows[t - 1];
  for (std::size_t t = window; t < rows.size(); ++t)
    if ((t + 1) % window) rows[t] = end[t + 1 - window] + rows[t];
}

}  // namespace

MovingMean moving_mean(const Series& series, std::span<const std::int64_t> times,
                       std::span<const double> values, std::int64_t window) {
  require(window >= 1, "moving mean: the window must be 1 row or more");
  require(times.size() == values.size(), "moving mean: every time has a value");
  const auto trial = [&](std::int64_t t) { return series.trial.empty() ? 0 : series.trial[std::size_t(t)]; };
  MovingMean result;
  for (std::size_t i = 0, end; i < times.size(); i = end) {
    for (end = i; end < times.size() && trial(times[end]) == trial(times[i]);) ++end;
    const auto row = [&](std::size_t k) { return std::size_t(times[k] - times[i]); };
    std::vector<Sum> rows(row(end - 1) + 1);
    for (std::size_t k = i; k < end; ++k) rows[row(k)] = {values[k], 1};
    sum_windows(rows, std::size_t(std::min<std::int64_t>(window, std::int64_t(rows.size()))));
    for (std::size_t k = i; k < end; ++k) {
      const Sum& sum = rows[row(k)];
      result.mean.push_back(sum.value / double(sum.count)), result.samples.push_back(sum.count);
    }
  }
  return result;
}

namespace {

/// The time of each row in steps since the first row of its trial.
std::vector<std::int64_t> steps_in_trial(const Series& series) {
  std::vector<std::int64_t> all;
  std::int64_t first = 0;
  for (std::int64_t t = 0; t < series.rows(); ++t) {
    const auto row = std::size_t(t);
    if (t == 0 || (!series.trial.empty() && series.trial[row] != series.trial[row - 1]))
      first = series.step(t);
    all.push_back(series.step(t) - first);
  }
  return all;
}

}  // namespace

std::string local_table_csv(const Series& series, std::span<const std::int64_t> times,
                            std::span<const double> values, const LocalTable& o) {
  const bool trials = !series.trial.empty();
  std::string out = trials ? "row,trial," : "row,";
  if (o.times)
    out += "time,";
  else if (o.time_step)
    out += csv_cell("time (" + o.time_step->unit + ")") + ",";
  out += "local (" + o.units + ")";
  MovingMean moving;
  if (o.window) {
    moving = moving_mean(series, times, values, o.window);
    out += ",mean (" + o.units + "),samples";
  }
  out += "\n";
  const std::vector<std::int64_t> in_trial = trials ? steps_in_trial(series) : std::vector<std::int64_t>();
  auto to = std::back_inserter(out);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto at = std::size_t(times[i] + o.shift);
    const std::int64_t row = o.first_row + (o.file_row.empty() ? std::int64_t(at) : o.file_row[at]);
    fmt::format_to(to, "{},", row);
    if (trials) {
      const auto trial = std::size_t(series.trial[std::size_t(times[i])]);
      out += (o.trial_names.empty() ? std::to_string(trial) : csv_cell(o.trial_names[trial])) + ",";
    }
    if (o.times)
      out += time_text(*o.times, at) + ",";
    else if (o.time_step)
      fmt::format_to(to, "{},",
                     double(trials ? in_trial[std::size_t(times[i])] + o.shift : row) * o.time_step->step);
    fmt::format_to(to, "{}", values[i] * o.factor);
    if (o.window) fmt::format_to(to, ",{},{}", moving.mean[i] * o.factor, moving.samples[i]);
    out += "\n";
  }
  return out;
}

std::string local_over_trials_csv(const Series& series, std::span<const std::int64_t> times,
                                  std::span<const double> values, const LocalTable& o) {
  require(!series.trial.empty(), "--local-over-trials: there are no trials; see --trials");
  const std::vector<std::int64_t> in_trial = steps_in_trial(series);
  std::map<std::int64_t, Sum> at;
  for (std::size_t i = 0; i < times.size(); ++i) {
    Sum& sum = at[in_trial[std::size_t(times[i])] + o.shift];
    sum = sum + Sum{values[i], 1};
  }
  std::string out = "step,";
  if (o.time_step) out += csv_cell("time (" + o.time_step->unit + ")") + ",";
  out += "local (" + o.units + "),trials\n";
  auto to = std::back_inserter(out);
  for (const auto& [step, sum] : at) {
    fmt::format_to(to, "{},", step);
    if (o.time_step) fmt::format_to(to, "{},", double(step) * o.time_step->step);
    fmt::format_to(to, "{},{}\n", sum.value / double(sum.count) * o.factor, sum.count);
  }
  return out;
}

}  // namespace kolmo
