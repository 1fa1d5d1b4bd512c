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

/// Keys, and where the points are that have them.
template <class T>
struct Keyed {
  T* key;
  RowFrom* point;

  void move(std::int64_t to, std::int64_t from) const { key[to] = key[from], point[to] = point[from]; }
};

/// Moves the keys of which before(key) is true to the front, without branches; returns how many they are.
template <class T, class Before>
std::int64_t partition(const Keyed<T>& k, std::int64_t n, const Before& before) {
  std::int64_t front = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const T key = k.key[i];
    const RowFrom point = k.point[i];
    k.move(i, front);
    k.key[front] = key, k.point[front] = point;
    front += before(key);
  }
  return front;
}

template <class T>
void insertion_sort(const Keyed<T>& k, std::int64_t n) {
  for (std::int64_t i = 1; i < n; ++i) {
    const T key = k.key[i];
    const RowFrom point = k.point[i];
    std::int64_t at = i;
    for (; at > 0 && key < k.key[at - 1]; --at) k.move(at, at - 1);
    k.key[at] = key, k.point[at] = point;
  }
}

/// Does what std::nth_element does by keys, without a branch that is mispredicted at every other key. Pivots come from
/// samples, near the rank that is wanted.
template <class T>
void select(Keyed<T> k, std::int64_t nth, std::int64_t n) {
  constexpr std::int64_t few = 8, most_samples = 31;
  while (n > few) {
    T sample[most_samples];
    const std::int64_t samples = std::min(most_samples, n / 8 | 3), stride = n / samples;
    for (std::int64_t i = 0; i < samples; ++i) sample[i] = k.key[i * stride + stride / 2];
    const std::int64_t rank = std::min(samples - 1, nth * samples / n);
    std::nth_element(sample, sample + rank, sample + samples);
    const T pivot = sample[rank];
    std::int64_t front = partition(k, n, [&](T key) { return key < pivot; });
    if (front == 0) {  // the pivot is the least key
      front = partition(k, n, [&](T key) { return key <= pivot; });
      if (nth < front) return;
    }
    if (nth < front)
      n = front;
    else
      k.key += front, k.point += front, nth -= front, n -= front;
  }
  insertion_sort(k, n);
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
  moved = arena.take<RowFrom>(slots);
  scratch = arena.take<T>(slots);
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
  for (std::int64_t i = 0; i < count; ++i) moved[i] = {row[begin + i], std::uint32_t(i)};
  select(Keyed<T>{column(widest) + begin, moved}, left * leaf, count);
  for (std::int64_t i = 0; i < count; ++i) row[begin + i] = moved[i].row;
  for (int c = 0; c < d; ++c) {
    T* other = column(c) + begin;
    if (c == widest) continue;
    for (std::int64_t i = 0; i < count; ++i) scratch[i] = other[moved[i].from];
    std::copy_n(scratch, count, other);
  }
  split(a, a + left);
  split(a + left, b);
}

template struct Tree<double>;
template struct Tree<float>;

}  // namespace kolmo::knn
