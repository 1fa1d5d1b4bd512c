#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kolmo/flow/data/warning.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo {

/// The times of rows as whole numbers of steps.
struct TimeAxis {
  std::string name;                 ///< of the column or index
  std::vector<std::int64_t> steps;  ///< of each row; empty: every row is one step after the row before
  std::optional<double> step;       ///< none if the times are irregular
  std::string unit;                 ///< "" if unknown
  std::string first, last;          ///< the times of the first and the last row
  std::int64_t gaps = 0;            ///< places where rows are absent
  std::int64_t absent = 0;          ///< how many steps have no row
  std::string calendar;             ///< how dates are counted, if not by equal steps; "" otherwise
};

/// Finds the step of the times of a table, by which rows of a trial follow each other: dates of months are counted by months, and
/// dates that leave out every Saturday and Sunday by weekdays. Otherwise the step is the smallest difference of which nine in ten
/// are multiples (up to a tenth of it), or the median difference. Steps of trials follow one another. Adds the warning
/// irregular_time if there is no step. Throws InvalidArgument, naming the row, for times that descend, repeat, are not in order, or
/// are missing.
TimeAxis time_axis(const Table& table, std::vector<Warning>& warnings);

/// The time of a row, as text.
std::string time_text(const RowTimes& times, std::size_t row);

}  // namespace kolmo
