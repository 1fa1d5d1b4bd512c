#pragma once
#include "kolmo/ops/nn/gru_sequences/gru_steps.hpp"

namespace kolmo {

/// Rows [first, end) of ResetRows and UnitRows in vectors of the CPU; for float and double.
template <class T>
struct GruRows {
  void (*reset)(const ResetRows<T>&, std::int64_t first, std::int64_t end);
  void (*unit)(const UnitRows<T>&, std::int64_t first, std::int64_t end);
};
template <class T>
GruRows<T> gru_rows();
template <>
GruRows<double> gru_rows();
template <>
GruRows<float> gru_rows();

}  // namespace kolmo
