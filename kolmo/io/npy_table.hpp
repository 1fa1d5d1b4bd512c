#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kolmo/base/tensor.hpp"
#include "kolmo/io/npy_elements.hpp"
#include "kolmo/io/table.hpp"

namespace kolmo {

/// Makes the table of an array (see to_table) from its elements, which come in the order of a file. The shape, the name and the
/// options must outlive it.
class TableFill {
 public:
  TableFill(DType dtype, std::span<const std::int64_t> shape, bool fortran_order, const std::string& name,
            const TableOptions& options, const std::vector<std::string>& names = {});
  void add(const std::byte* elements, std::size_t count);
  Table finish() &&;

 private:
  bool copy_rows(const std::byte* elements, std::size_t count);
  template <class T>
  void put(T element);

  DType dtype_;
  const TableOptions& options_;
  Table table_;
  FileOrder at_;
  std::size_t trials_ = 1, rows_ = 1;  // rows of a trial
  std::size_t row_dimension_ = 0,
              column_dimension_;  // of the array; column_dimension_ is its rank if it has no columns
  bool in_trials_, fortran_order_;
};

}  // namespace kolmo
