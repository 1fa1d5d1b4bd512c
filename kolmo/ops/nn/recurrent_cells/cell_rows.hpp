#pragma once
#include "kolmo/ops/nn/recurrent_cells/cells.hpp"

namespace kolmo {

/// Rows [first, end) of the units of a cell in vectors of the CPU; for float and double.
template <class T>
struct CellRows {
  void (*lstm)(const LstmUnit<T>&, std::int64_t first, std::int64_t end);
  void (*reset)(const ResetState<T>&, std::int64_t first, std::int64_t end);
  void (*gru)(const GruUnit<T>&, std::int64_t first, std::int64_t end);
};
template <class T>
CellRows<T> cell_rows();
template <>
CellRows<double> cell_rows();
template <>
CellRows<float> cell_rows();

}  // namespace kolmo
