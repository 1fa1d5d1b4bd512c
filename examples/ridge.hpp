#pragma once
// Ridge regression, for the examples that learn a readout.
#include <utility>

#include "examples/plot.hpp"
#include "kolmo/ops/dense/matmul/matmul.hpp"

namespace example {

/// Returns the X (n x c) with the least |S X - Y|^2 + ridge |X|^2, for states S (t x n) and targets Y (t x
/// c).
inline Numbers ridge(Numbers& states, Numbers& targets, std::int64_t n, std::int64_t c, double ridge,
                     kolmo::Stream& stream) {
  const auto t = std::int64_t(states.size()) / n;
  Numbers gram(std::size_t(n * n)), x(std::size_t(n * c));
  const kolmo::Tensor s = kolmo::tensor(states.data(), {t, n});
  kolmo::matmul({.a = s, .b = s, .y = kolmo::tensor(gram.data(), {n, n}), .transpose_a = true}, stream);
  kolmo::matmul({.a = s,
                 .b = kolmo::tensor(targets.data(), {t, c}),
                 .y = kolmo::tensor(x.data(), {n, c}),
                 .transpose_a = true},
                stream);
  const auto rows = std::size_t(n), columns = std::size_t(c);
  for (std::size_t i = 0; i < rows; ++i) gram[i * rows + i] += ridge;
  for (std::size_t i = 0; i < rows; ++i)  // elimination; the matrix is positive definite
    for (std::size_t r = i + 1; r < rows; ++r) {
      const double factor = gram[r * rows + i] / gram[i * rows + i];
      for (std::size_t j = i; j < rows; ++j) gram[r * rows + j] -= factor * gram[i * rows + j];
      for (std::size_t k = 0; k < columns; ++k) x[r * columns + k] -= factor * x[i * columns + k];
    }
  for (std::size_t i = rows; i-- > 0;)
    for (std::size_t k = 0; k < columns; ++k) {
      for (std::size_t j = i + 1; j < rows; ++j)
        x[i * columns + k] -= gram[i * rows + j] * x[j * columns + k];
      x[i * columns + k] /= gram[i * rows + i];
    }
  return x;
}

}  // namespace example
