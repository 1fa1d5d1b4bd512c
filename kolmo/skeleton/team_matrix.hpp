#pragma once
// Small matrices, stored row by row, which the threads of a team compute (skeleton/each_team.hpp). When a
// function returns, all threads can read its results.
#include <cstdint>

#include "kolmo/base/hd.hpp"

namespace kolmo {

/// Element (i, j) of a symmetric matrix of size n, from its upper triangle.
template <class T>
KOLMO_HD double symmetric(const T* m, std::int64_t n, std::int64_t i, std::int64_t j) {
  return double(i < j ? m[i * n + j] : m[j * n + i]);
}

/// Computes c_ij = sum_k a(i, k) b(k, j) for all i < rows, j < columns, k < inner.
template <class Team, class A, class B>
KOLMO_HD void multiply(const Team& team, std::int64_t rows, std::int64_t columns, std::int64_t inner,
                       const A& a, const B& b, double* c) {
  team.each(rows * columns, [&](std::int64_t at) {
    const std::int64_t i = at / columns, j = at - i * columns;
    double sum = 0;
    for (std::int64_t k = 0; k < inner; ++k) sum += a(i, k) * b(k, j);
    c[at] = sum;
  });
  team.sync();
}

/// Calls write(i, j) for all i <= j < n.
template <class Team, class F>
KOLMO_HD void upper_triangle(const Team& team, std::int64_t n, const F& write) {
  team.each(n * n, [&](std::int64_t at) {
    const std::int64_t i = at / n, j = at - i * n;
    if (i <= j) write(i, j);
  });
  team.sync();
}

}  // namespace kolmo
