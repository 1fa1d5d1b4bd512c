#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kolmo/flow/data/time_axis.hpp"
#include "kolmo/flow/request/request.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo {

/// Holds what columns and arrays say of the rows of a table.
struct ArrangedRows {
  std::vector<std::size_t> columns;      ///< that say something of rows, and are no variables
  std::vector<std::string> trial_names;  ///< of trials that text names, in the order of their numbers
  std::optional<TimeAxis> time;
  std::vector<Warning> warnings;
  std::vector<std::string> notes;
};

/// Numbers the trials of a table, puts the rows of each trial together, counts the steps of time between rows and marks the
/// rows that count, as the request says. Throws InvalidArgument, naming option and row, for a trial or time that is missing; for
/// rows of a trial that are apart where no time orders them; for what time_axis refuses; and if no row counts.
ArrangedRows arrange_rows(Table& table, const AnalysisRequest& request);

}  // namespace kolmo
