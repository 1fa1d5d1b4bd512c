#include "kolmo/knn/tree.hpp"

#include <algorithm>
#include <limits>

namespace kolmo::knn {

template <class T>
void Tree<T>::layout(std::int64_t points, int columns, Arena& arena) {
  n = points, d = columns, leaves = (n + leaf - 1) / leaf;
  const auto slots = std::size_t(leaves * leaf);
  point = arena.take<T>(slots * std::size_t(d));
  row = arena.take<std::uint32_t>(slots);
  slot = arena.take<std::uint32_t>(slots);
  box = arena.take<T>(std::size_t(4 * leaves * d));
  scratch = arena.take<Keyed>(slots);
}

template <class T>
void Tree<T>::build(const Columns<T>& columns) {
  for (std::int64_t i = 0; i < leaves * leaf; ++i) row[i] = i < n ? std::uint32_t(i) : no_row;
  split(columns, 0, 0, leaves);
  for (std::int64_t i = 0; i < leaves * leaf; ++i) {
    T* at = point + (i / leaf) * leaf * d + i % leaf;
    for (int c = 0; c < d; ++c)
      at[c * leaf] = row[i] == no_row ? std::numeric_limits<T>::infinity() : columns(c, row[i]);
    if (row[i] != no_row) slot[row[i]] = std::uint32_t(i);
  }
}

template <class T>
void Tree<T>::split(const Columns<T>& columns, std::int64_t node, std::int64_t a, std::int64_t b) {
  const std::int64_t begin = a * leaf, end = begin + size(a, b);
  T *lower = box + node * 2 * d, *upper = lower + d;
  int widest = 0;
  for (int c = 0; c < d; ++c) {
    T low = columns(c, row[begin]), high = low;
    for (std::int64_t i = begin + 1; i < end; ++i) {
      const T v = columns(c, row[i]);
      low = v < low ? v : low, high = v > high ? v : high;
    }
    lower[c] = low, upper[c] = high;
    if (high - low > upper[widest] - lower[widest]) widest = c;
  }
  if (b - a == 1) return;
  const std::int64_t middle = (a + b) / 2;
  for (std::int64_t i = begin; i < end; ++i) scratch[i] = {columns(widest, row[i]), row[i]};
  std::nth_element(scratch + begin, scratch + middle * leaf, scratch + end,
                   [](const Keyed& p, const Keyed& q) { return p.key < q.key; });
  for (std::int64_t i = begin; i < end; ++i) row[i] = scratch[i].row;
  split(columns, node + 1, a, middle);
  split(columns, node + 2 * (middle - a), middle, b);
}

template struct Tree<double>;
template struct Tree<float>;

}  // namespace kolmo::knn
