#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kolmo/base/error.hpp"
#include "kolmo/io/cell.hpp"
#include "kolmo/io/npy.hpp"

namespace kolmo {
namespace {

/// The reason why a series cannot hold the element; empty if it can.
template <class T>
std::string why_unusable(T element) {
  const auto value = double(element);
  if (std::isinf(value))
    return (value < 0 ? "-inf" : "inf") + std::string(" is infinite; a series holds finite numbers or NaN");
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    const bool exact = value < (std::is_signed_v<T> ? 0x1p63 : 0x1p64) && T(value) == element;
    if (!exact) return std::to_string(element) + " cannot be held by a double exactly";
  }
  return "";
}

/// Where the series of an array lie: the number of trials, of rows in each, and of columns.
struct SeriesShape {
  std::size_t trials = 1, rows = 1, width = 1;
  std::size_t row_stride = 1, column_stride = 1;  // in elements
};

SeriesShape series_shape(const Array& array, bool transpose, const std::string& name) {
  const auto shape = array.tensor.shape();
  const std::size_t rank = shape.size();
  if (rank < 1 || rank > 3)
    fail<InvalidArgument>(
        name + ": NPY array has " + std::to_string(rank) +
        " dimensions; series want 1 (time), 2 (time, columns) or 3 (trials, time, columns)");
  for (const std::int64_t extent : shape) require(extent > 0, name + ": NPY array is empty");
  SeriesShape s;
  if (rank == 3) s.trials = std::size_t(shape[0]);
  s.rows = std::size_t(shape[rank == 3 ? 1 : 0]);
  if (rank > 1) s.width = std::size_t(shape[rank - 1]);
  s.row_stride = s.width;
  if (transpose) {
    std::swap(s.rows, s.width);
    std::swap(s.row_stride, s.column_stride);
  }
  require(s.trials <= std::size_t(std::numeric_limits<std::int32_t>::max()),
          name + ": NPY array has more than 2^31 trials");
  if (s.width > most_columns)
    fail<InvalidArgument>(name + ": NPY array has " + std::to_string(s.width) + " columns, at most " +
                          std::to_string(most_columns) + " are read; --transpose makes rows columns");
  return s;
}

}  // namespace

Table to_table(const Array& array, const std::string& name, const TableOptions& options,
               const std::vector<std::string>& names) {
  require(!complexes.has(array.tensor.dtype), name + ": NPY array is complex; a series holds real numbers");
  const SeriesShape s = series_shape(array, options.transpose, name);
  const std::size_t rows = s.trials * s.rows;
  Table table;
  table.file = name;
  table.columns.assign(s.width, std::vector<double>(rows));
  table.faults.resize(s.width);
  if (!names.empty() && names.size() != s.width)
    fail<InvalidArgument>(name + ": " + std::to_string(names.size()) + " names for " +
                          std::to_string(s.width) + " columns");
  table.names = names, table.named = !names.empty();
  for (std::size_t c = names.size(); c < s.width; ++c) table.names.push_back(std::to_string(c));
  visit<double, float, Half, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint64_t,
        std::uint32_t, std::uint16_t, std::uint8_t, bool>(array.tensor.dtype, [&]<class T>() {
    for (std::size_t t = 0; t < rows; ++t) {
      const std::size_t start = t / s.rows * s.rows * s.width + t % s.rows * s.row_stride;
      for (std::size_t c = 0; c < s.width; ++c) {
        T element;
        std::memcpy(&element, array.bytes().data() + (start + c * s.column_stride) * sizeof(T), sizeof(T));
        double& value = table.columns[c][t];
        value = double(element);
        const std::string fault = why_unusable(element);
        const bool missing = !options.cells.missing.empty() && marks_missing(value, options.cells);
        if (missing || !fault.empty()) value = std::numeric_limits<double>::quiet_NaN();
        if (missing || fault.empty() || table.faults[c].size() == Table::max_faults) continue;
        table.faults[c].push_back(
            {t, name + ":" + std::to_string(t + 1) + ":" + column_label(table, c) + ": " + fault});
      }
    }
  });
  if (array.tensor.shape().size() == 3)
    for (std::size_t t = 0; t < rows; ++t) table.trial.push_back(std::int32_t(t / s.rows));
  if (!options.transpose && s.width >= 2 * s.rows)
    table.remarks.push_back({"transposed", "the array has " + std::to_string(s.rows) + " rows and " +
                                               std::to_string(s.width) +
                                               " columns; rows are time: if they are series, give "
                                               "--transpose"});
  return table;
}

}  // namespace kolmo
