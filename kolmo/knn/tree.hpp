#pragma once
#include <cstdint>
#include <type_traits>

#include "kolmo/base/arena.hpp"

namespace kolmo::knn {

inline constexpr int max_columns = 48;  // x, y and z of 16 each

/// Columns of points in host memory: value of column c at a row is base[c][row * step[c]].
template <class T>
struct Columns {
  const T* base[max_columns];
  std::int64_t step[max_columns];
  int count = 0;

  void add(const T* rows, int columns) {
    for (int c = 0; c < columns; ++c) base[count] = rows + c, step[count++] = columns;
  }
  T operator()(int c, std::int64_t row) const { return base[c][row * step[c]]; }
};

/// A k-d tree with exact bounding boxes over leaves of 16 points, both stored column by column for vector code.
/// A node of level l has up to eight children of 8^l leaves each: all eight boxes are compared at once. Unused
/// slots of the last leaf hold points at infinity with row `no_row`, unused boxes are empty.
template <class T>
struct Tree {
  static constexpr int leaf = 16, fan = 8;
  static constexpr int max_levels = 10;  // for up to 2^34 points
  static constexpr std::uint32_t no_row = 0xffffffffu;
  using Order =
      std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;  ///< a row, as wide as a value

  std::int64_t n = 0, leaves = 0;
  int d = 0, levels = 0;
  T* point = nullptr;            // [leaf][column][slot]
  std::uint32_t* row = nullptr;  // [leaf][slot]
  T* box[max_levels] = {};       // of each level: [node][column][lower, upper][child]
  Order* order = nullptr;        // these two while the tree is built: rows in the order of columns
  T* scratch = nullptr;

  void layout(std::int64_t points, int columns, Arena& arena);
  void build(const Columns<T>& columns);

  const T* leaf_points(std::int64_t l) const { return point + l * leaf * d; }
  /// The number of boxes of a level.
  std::int64_t children(int level) const { return ((leaves - 1) >> 3 * level) + 1; }
  /// The number of points in leaves [a, b).
  std::int64_t size(std::int64_t a, std::int64_t b) const { return (b * leaf < n ? b * leaf : n) - a * leaf; }
  /// A column in the order of `order`, while the tree is built.
  T* column(int c) const { return point + c * leaves * leaf; }
  /// Stores the box of leaves [a, b) for every level at which they are a child.
  void store_box(std::int64_t a, std::int64_t b, const T* lower, const T* upper);
};

}  // namespace kolmo::knn
