#pragma once
#include <cstdint>

#include "kolmo/base/status.hpp"
#include "kolmo/base/tensor.hpp"

namespace kolmo {

/// A sparse matrix in compressed rows: row i has the elements offsets[i] ... offsets[i + 1] - 1 of `columns`
/// and `values`. Invalid rows and columns are skipped and reported as faults 0 and 1, whose texts an operator
/// takes from sparse_faults.
template <class T>
struct SparseRows {
  const std::int64_t *offsets, *columns;
  const T* values;
  std::int64_t rows, width, count;
  Status status;

  SparseRows(const Tensor& o, const Tensor& c, const Tensor& v, std::int64_t rows_, std::int64_t width_,
             Status s)
      : offsets(o.as<std::int64_t>()),
        columns(c.as<std::int64_t>()),
        values(v.as<T>()),
        rows(rows_),
        width(width_),
        count(c.given() ? c.size() : 0),
        status(s) {}

  /// Calls f(column, value) for the elements of a row.
  template <class F>
  KOLMO_HD void each(std::int64_t row, const F& f) const {
    const std::int64_t begin = offsets[row], end = offsets[row + 1];
    if (begin < 0 || end < begin || end > count || (row == 0 && begin != 0) ||
        (row == rows - 1 && end != count))
      return status.report(0, row);
    for (std::int64_t e = begin; e < end; ++e) {
      const std::int64_t column = columns[e];
      if (column < 0 || column >= width)
        status.report(1, e);
      else
        f(column, values[e]);
    }
  }
};

inline constexpr std::string_view sparse_faults[] = {
    "the offsets of a row do not ascend from 0 to the number of columns",
    "columns names a column that does not exist"};

/// Throws InvalidArgument unless the three tensors of a sparse matrix are given together, and the dense
/// matrix, the argument `name`, is not given beside them.
inline void check_sparse(std::string_view op, std::string_view name, const Tensor& dense,
                         const Tensor& offsets, const Tensor& columns, const Tensor& values) {
  const int given = offsets.given() + columns.given() + values.given();
  if (given != 0 && given != 3)
    fail<InvalidArgument>(std::string(op) +
                          ": a sparse matrix needs offsets, columns and values, all three of them");
  if (given == 3 && dense.given())
    fail<InvalidArgument>(std::string(op) + ": the matrix is given twice, dense by " + std::string(name) +
                          " and sparse by offsets, columns and values");
}

}  // namespace kolmo
