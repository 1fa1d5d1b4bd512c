#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kolmo/base/arena.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"

namespace kolmo {

/// Long rows are cut into parts of this many elements, which different threads process. Results depend on
/// this length, but not on the number of threads.
inline constexpr std::int64_t row_part = 4096;
constexpr std::int64_t row_parts(std::int64_t k) { return (k + row_part - 1) / row_part; }

/// The workspace of for_row_parts for `rows` rows of k elements.
template <class Part>
Part* take_row_parts(Arena& arena, std::int64_t rows, std::int64_t k) {
  return arena.take<Part>(row_parts(k) == 1 ? 0 : rows * (row_parts(k) + 1));
}

/// Processes every row in two passes. first(row, begin, n) returns the result of a part, combine(a, b) joins
/// those of neighbouring parts in order, and last(row, begin, n, part, whole) writes the output of a part.
template <class Part, class First, class Combine, class Last>
void for_row_parts(int threads, std::int64_t rows, std::int64_t k, Part* partial, const First& first,
                   const Combine& combine, const Last& last) {
  const std::int64_t parts = row_parts(k);
  if (parts == 1) {
    const std::int64_t grain = std::max<std::int64_t>(1, 4 * row_part / k);
    return parallel_for(threads, (rows + grain - 1) / grain, [&](std::int64_t i, int) {
      for (std::int64_t row = i * grain; row < std::min(rows, (i + 1) * grain); ++row) {
        const Part part = first(row, 0, k);
        last(row, 0, k, part, part);
      }
    });
  }
  auto* const whole = partial + rows * parts;
  const auto each_part = [&](const auto& work) {
    parallel_for(threads, rows * parts, [&](std::int64_t i, int) {
      const std::int64_t row = i / parts, begin = i % parts * row_part;
      work(i, row, begin, std::min(row_part, k - begin));
    });
  };
  each_part([&](auto i, auto row, auto begin, auto n) { partial[i] = first(row, begin, n); });
  for (std::int64_t row = 0; row < rows; ++row) {
    whole[row] = partial[row * parts];
    for (std::int64_t p = 1; p < parts; ++p) whole[row] = combine(whole[row], partial[row * parts + p]);
  }
  each_part([&](auto i, auto row, auto begin, auto n) { last(row, begin, n, partial[i], whole[row]); });
}

}  // namespace kolmo
