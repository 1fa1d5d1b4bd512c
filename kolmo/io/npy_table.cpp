#include "kolmo/io/npy_table.hpp"

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

}  // namespace

TableFill::TableFill(DType dtype, std::span<const std::int64_t> shape, bool fortran_order,
                     const std::string& name, const TableOptions& options,
                     const std::vector<std::string>& names)
    : dtype_(dtype),
      options_(options),
      at_(shape, fortran_order),
      column_dimension_(shape.size()),
      in_trials_(shape.size() == 3),
      fortran_order_(fortran_order) {
  require(!complexes.has(dtype), name + ": NPY array is complex; a series holds real numbers");
  const std::size_t rank = shape.size();
  if (rank < 1 || rank > 3)
    fail<InvalidArgument>(
        name + ": NPY array has " + std::to_string(rank) +
        " dimensions; series want 1 (time), 2 (time, columns) or 3 (trials, time, columns)");
  for (const std::int64_t extent : shape) require(extent > 0, name + ": NPY array is empty");
  row_dimension_ = in_trials_;
  if (rank > 1) column_dimension_ = rank - 1;
  if (options.transpose) std::swap(row_dimension_, column_dimension_);
  const auto extent = [&](std::size_t d) { return d < rank ? std::size_t(shape[d]) : 1; };
  if (in_trials_) trials_ = extent(0);
  rows_ = extent(row_dimension_);
  const std::size_t width = extent(column_dimension_);
  require(trials_ <= std::size_t(std::numeric_limits<std::int32_t>::max()),
          name + ": NPY array has more than 2^31 trials");
  if (width > most_columns)
    fail<InvalidArgument>(name + ": NPY array has " + std::to_string(width) + " columns, at most " +
                          std::to_string(most_columns) + " are read; --transpose makes rows columns");
  if (!names.empty() && names.size() != width)
    fail<InvalidArgument>(name + ": " + std::to_string(names.size()) + " names for " + std::to_string(width) +
                          " columns");
  table_.file = name;
  table_.columns.assign(width, std::vector<double>(trials_ * rows_));
  table_.faults.resize(width);
  table_.names = names, table_.named = !names.empty();
  for (std::size_t c = names.size(); c < width; ++c) table_.names.push_back(std::to_string(c));
}

template <class T>
void TableFill::put(T element) {
  const std::size_t t = (in_trials_ ? at_[0] * rows_ : 0) + at_[row_dimension_], c = at_[column_dimension_];
  double& value = table_.columns[c][t];
  value = double(element);
  std::string fault = why_unusable(element);
  const bool missing = !options_.cells.missing.empty() && marks_missing(value, options_.cells);
  if (!missing && fault.empty()) return;
  value = std::numeric_limits<double>::quiet_NaN();
  if (missing) return;
  auto& faults = table_.faults[c];
  const auto place = std::upper_bound(faults.begin(), faults.end(), t,
                                      [](std::size_t row, const Fault& f) { return row < f.row; });
  fault = table_.file + ":" + std::to_string(t + 1) + ":" + column_label(table_, c) + ": " + fault;
  if (place != faults.end() || faults.size() < Table::max_faults) faults.insert(place, {t, fault});
  if (faults.size() > Table::max_faults) faults.pop_back();
}

/// Copies a whole array of doubles, [row] or [row][column]. Returns whether that is all there is to do: put() tells of
/// numbers that are infinite.
bool TableFill::copy_rows(const std::byte* elements, std::size_t count) {
  const std::size_t width = table_.columns.size();
  if (dtype_ != DType::f64 || options_.transpose || in_trials_ || fortran_order_ || count != width * rows_ ||
      !options_.cells.missing.empty())
    return false;
  bool infinite = false;
  for (std::size_t c = 0; c < width; ++c)
    for (std::size_t t = 0; t < rows_; ++t) {
      double& value = table_.columns[c][t];
      std::memcpy(&value, elements + (t * width + c) * sizeof value, sizeof value);
      infinite |= std::isinf(value);
    }
  return !infinite;
}

void TableFill::add(const std::byte* elements, std::size_t count) {
  if (copy_rows(elements, count)) return;
  visit<double, float, Half, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint64_t,
        std::uint32_t, std::uint16_t, std::uint8_t, bool>(dtype_, [&]<class T>() {
    for (std::size_t i = 0; i < count; ++i, at_.next()) {
      T element;
      std::memcpy(&element, elements + i * sizeof(T), sizeof(T));
      put(element);
    }
  });
}

Table TableFill::finish() && {
  const std::size_t width = table_.columns.size();
  for (std::size_t t = 0; in_trials_ && t < trials_ * rows_; ++t)
    table_.trial.push_back(std::int32_t(t / rows_));
  if (!options_.transpose && width >= 2 * rows_)
    table_.remarks.push_back({"transposed", "the array has " + std::to_string(rows_) + " rows and " +
                                                std::to_string(width) +
                                                " columns; rows are time: if they are series, give "
                                                "--transpose"});
  return std::move(table_);
}

Table to_table(const Array& array, const std::string& name, const TableOptions& options,
               const std::vector<std::string>& names) {
  TableFill fill(array.tensor.dtype, array.tensor.shape(), false, name, options, names);
  fill.add(array.bytes().data(), std::size_t(array.tensor.size()));
  return std::move(fill).finish();
}

}  // namespace kolmo
