#include "kolmo/knn/tree.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace kolmo::knn {

namespace {

/// The least and the largest of some values.
template <class T>
void range_of(const T* value, std::int64_t n, T& low, T& high) {
  constexpr int lanes = 8;  // independent ones, which compilers turn into vectors
  T lows[lanes], highs[lanes];
  std::fill_n(lows, lanes, value[0]), std::fill_n(highs, lanes, value[0]);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) {
      const T v = value[i + l];
      lows[l] = v < lows[l] ? v : lows[l], highs[l] = v > highs[l] ? v : highs[l];
    }
  low = *std::min_element(lows, lows + lanes), high = *std::max_element(highs, highs + lanes);
  for (; i < n; ++i) low = std::min(low, value[i]), high = std::max(high, value[i]);
}

}  // namespace

template <class T>
void Tree<T>::layout(std::int64_t points, int columns, Arena& arena) {
  n = points, d = columns, leaves = (n + leaf - 1) / leaf;
  const auto slots = std::size_t(leaves * leaf);
  point = arena.take<T>(slots * std::size_t(d));
  row = arena.take<std::uint32_t>(slots);
  levels = 0;
  for (std::int64_t nodes = leaves; levels == 0 || nodes > 1; ++levels) {
    nodes = (nodes + fan - 1) / fan;
    box[levels] = arena.take<T>(std::size_t(nodes * fan * 2 * d));
  }
  scratch = arena.take<Keyed>(slots);
}

template <class T>
void Tree<T>::build(const Columns<T>& columns) {
  for (std::int64_t i = 0; i < leaves * leaf; ++i) row[i] = i < n ? std::uint32_t(i) : no_row;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  std::int64_t nodes = leaves;
  for (int l = 0; l < levels; ++l) {  // the last node may lack children
    nodes = (nodes + fan - 1) / fan;
    T* last = box[l] + (nodes - 1) * fan * 2 * d;
    for (int c = 0; c < d; ++c, last += 2 * fan)
      std::fill_n(last, fan, infinity), std::fill_n(last + fan, fan, -infinity);
  }
  for (int c = 0; c < d; ++c)
    for (std::int64_t i = 0; i < n; ++i) column(c)[i] = columns(c, i);
  split(0, leaves);
  for (std::int64_t i = 0; i < leaves * leaf; ++i) {
    T* at = point + (i / leaf) * leaf * d + i % leaf;
    for (int c = 0; c < d; ++c) at[c * leaf] = row[i] == no_row ? infinity : columns(c, row[i]);
  }
}

/// Stores the box of leaves [a, b) for every level at which they are a child.
template <class T>
void Tree<T>::store_box(std::int64_t a, std::int64_t b, const T* lower, const T* upper) {
  std::int64_t child = a, width = 1;
  for (int l = 0; l < levels; ++l, child /= fan, width *= fan) {
    if (a % width || b != std::min(a + width, leaves)) continue;
    T* to = box[l] + child / fan * fan * 2 * d + child % fan;
    for (int c = 0; c < d; ++c) to[2 * c * fan] = lower[c], to[(2 * c + 1) * fan] = upper[c];
  }
}

/// Orders the rows of leaves [a, b), and the columns with them, so that memory is read in order at all levels.
template <class T>
void Tree<T>::split(std::int64_t a, std::int64_t b) {
  const std::int64_t begin = a * leaf, count = size(a, b);
  T lower[max_columns], upper[max_columns];
  int widest = 0;
  for (int c = 0; c < d; ++c) {
    range_of(column(c) + begin, count, lower[c], upper[c]);
    if (upper[c] - lower[c] > upper[widest] - lower[widest]) widest = c;
  }
  store_box(a, b, lower, upper);
  if (b - a == 1) return;
  // Halve the children of the smallest node that holds all leaves.
  const int shift = int(std::bit_width(std::uint64_t(b - a - 1)) - 1) / 3 * 3;
  const std::int64_t children = (b - a - 1) >> shift, left = (children / 2 + 1) << shift;
  T* key = column(widest) + begin;
  for (std::int64_t i = 0; i < count; ++i) scratch[i] = {key[i], row[begin + i], std::uint32_t(i)};
  std::nth_element(scratch, scratch + left * leaf, scratch + count,
                   [](const Keyed& p, const Keyed& q) { return p.key < q.key; });
  for (std::int64_t i = 0; i < count; ++i) key[i] = scratch[i].key, row[begin + i] = scratch[i].row;
  for (int c = 0; c < d; ++c) {
    T* other = column(c) + begin;
    if (c == widest) continue;
    for (std::int64_t i = 0; i < count; ++i) scratch[i].key = other[scratch[i].from];
    for (std::int64_t i = 0; i < count; ++i) other[i] = scratch[i].key;
  }
  split(a, a + left);
  split(a + left, b);
}

template struct Tree<double>;
template struct Tree<float>;

}  // namespace kolmo::knn
