#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kolmo/knn/sort.hpp"

namespace kolmo::knn {

/// A column in ascending order, equal values by row.
template <class T>
struct Sorted {
  T* value;            // n values, ascending
  std::uint32_t* row;  // row[p]: the row at position p
  std::uint32_t* at;   // at[row]: its position
  std::int64_t n;

  void sort(const T* column, std::int64_t step, SortKey* scratch) const {
    for (std::int64_t i = 0; i < n; ++i) scratch[i] = {std::uint64_t(i), ordered_bits(column[i * step])};
    knn::sort(scratch, std::size_t(n));
    for (std::int64_t p = 0; p < n; ++p) {
      const auto r = std::uint32_t(scratch[p].low);
      row[p] = r, at[r] = std::uint32_t(p), value[p] = column[r * step];
    }
  }

  /// Positions [first, last) with |value - q| < radius around position p, where value[p] == q. The search
  /// bisects this condition itself: a search for q - radius would miss points whose distance is rounded
  /// differently.
  struct Range {
    std::int64_t first, last;
  };
  Range within(std::int64_t p, T radius) const {
    const T q = value[p];
    if (!(T(0) < radius)) return {p, p};
    std::int64_t step = 1, inside = p;
    while (inside >= step && q - value[inside - step] < radius) inside -= step, step *= 2;
    std::int64_t outside = std::max<std::int64_t>(-1, inside - step);
    while (inside - outside > 1) {
      const std::int64_t middle = outside + (inside - outside) / 2;
      if (q - value[middle] < radius)
        inside = middle;
      else
        outside = middle;
    }
    const std::int64_t first = inside;
    step = 1, inside = p;
    while (inside + step < n && value[inside + step] - q < radius) inside += step, step *= 2;
    outside = std::min(n, inside + step);
    while (outside - inside > 1) {
      const std::int64_t middle = inside + (outside - inside) / 2;
      if (value[middle] - q < radius)
        inside = middle;
      else
        outside = middle;
    }
    return {first, inside + 1};
  }
};

/// Gives starting positions for searches in an ascending array: divides its range into cells of equal width,
/// and stores the first position in each. The array is padded with infinities after its n values.
template <class T>
struct Cells {
  const T* value;
  std::uint32_t* start;
  T low, scale;
  std::int32_t last;

  static constexpr int padding = 8;  ///< infinities after the values
  static std::int64_t count(std::int64_t n) { return 2 * n; }

  void build(std::int64_t n) {
    last = std::int32_t(count(n)) - 1;
    low = value[0];
    const T range = value[n - 1] - low, width = range / T(last + 1);
    // A cell must be wide compared with rounding errors, so that skipping a whole cell never skips a
    // boundary.
    const T magnitude = std::max({std::abs(low), std::abs(value[n - 1]), range});
    const bool invertible = 1 / width <= std::numeric_limits<T>::max();
    scale = invertible && width > magnitude * std::numeric_limits<T>::epsilon() * 16 ? 1 / width : 0;
    std::fill_n(start, last + 1, 0u);
    for (std::int64_t i = 0; i < n; ++i)
      if (const std::int32_t c = cell(value[i]); c < last) ++start[c + 1];
    for (std::int32_t c = 0; c < last; ++c) start[c + 1] += start[c];
  }
  [[gnu::always_inline]] std::int32_t cell(T v) const {
    const T at = (v - low) * scale;  // NaN if v is infinite and there is one cell only, which is cell 0
    return std::int32_t(std::min(T(last), at > 0 ? at : T(0)));
  }
};

}  // namespace kolmo::knn
