#pragma once
#include <optional>

#include "kolmo/flow/data/series.hpp"
#include "kolmo/flow/result/network_document.hpp"

namespace kolmo {

/// Says how local values are written.
struct LocalTable {
  std::int64_t first_row = 0;  ///< row of the file that is row 0 of the table
  std::int64_t shift = 0;      ///< row of the table that is row 0 of the series: 1 if it is of differences
  std::int64_t window = 0;     ///< rows of a moving mean; 0 for none
  double factor = 1;           ///< converts nats into `units`
  std::string units = "nats";
  std::optional<TimeStep> time_step;
  std::vector<std::int64_t> file_row{};    ///< see Table
  std::optional<RowTimes> times{};         ///< of the rows of the table
  std::vector<std::string> trial_names{};  ///< empty: trials are numbered
};

/// For each time t the mean of the values whose times lie in the rows t - window + 1 ... t of the file and in
/// the trial of t, and their number. Each sum has at most `window` values, so that rounding does not grow
/// with the length of the series.
struct MovingMean {
  std::vector<double> mean;
  std::vector<std::int64_t> samples;
};
MovingMean moving_mean(const Series& series, std::span<const std::int64_t> times,
                       std::span<const double> values, std::int64_t window);

/// Local values as CSV, one line for each of `times`: row, trial (its label, or counted from 0, if there are trials), time,
/// local value, and with a window its mean and the number of values in it. The time is that of the row, if rows have times; else,
/// with a step, that since the first row of the trial or file.
std::string local_table_csv(const Series& series, std::span<const std::int64_t> times,
                            std::span<const double> values, const LocalTable& table);

/// The mean of local values over trials as CSV, one line for each step of time since the first row of a trial: step, time (with a
/// time step), mean, and the number of trials that have a value there. Throws InvalidArgument if there are no trials.
std::string local_over_trials_csv(const Series& series, std::span<const std::int64_t> times,
                                  std::span<const double> values, const LocalTable& table);

}  // namespace kolmo
