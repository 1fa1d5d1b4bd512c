#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "kolmo/flow/data/warning.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo {

/// A value that may stand for a missing one, and the number of rows that have it.
struct FillValue {
  double value;
  std::size_t rows;
};

/// Values of a column that may stand for missing ones, in ascending order. At most three at each end of the range count: those
/// that lie farther from all others than these lie apart (50 times as far if these are fewer than ten different ones), and that
/// occur more than once or consist of nines (-999). 0 is a measured value of what stands still, and never counts.
std::vector<FillValue> fill_values(std::span<const double> column);

/// The warning `sentinel` for columns as they are in the table, before any transformation.
std::vector<Warning> inspect(const Table& table, std::span<const std::size_t> columns);

}  // namespace kolmo
