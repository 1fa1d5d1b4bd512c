#pragma once
#include <cstdint>

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

/// A k-d tree with exact bounding boxes over leaves of 16 points, stored column by column for vector code.
/// Unused slots of the last leaf hold points at infinity with row `no_row`. Nodes are in pre-order: the left
/// child of node v over leaves [a, b) is v + 1 over [a, m), the right child is v + 2 (m - a) over [m, b),
/// with m = (a + b) / 2.
template <class T>
struct Tree {
  static constexpr int leaf = 16;
  static constexpr std::uint32_t no_row = 0xffffffffu;
  struct Keyed {
    T key;
    std::uint32_t row;
  };

  std::int64_t n = 0, leaves = 0;
  int d = 0;
  T* point = nullptr;             // [leaf][column][slot]
  std::uint32_t* row = nullptr;   // [leaf][slot]
  std::uint32_t* slot = nullptr;  // slot of each row: leaf * 16 + slot
  T* box = nullptr;               // [node][2 d]: lower, then upper bounds
  Keyed* scratch = nullptr;

  void layout(std::int64_t points, int columns, Arena& arena);
  void build(const Columns<T>& columns);

  const T* leaf_points(std::int64_t l) const { return point + l * leaf * d; }
  std::int64_t size(std::int64_t a, std::int64_t b) const { return (b * leaf < n ? b * leaf : n) - a * leaf; }

 private:
  void split(const Columns<T>& columns, std::int64_t node, std::int64_t a, std::int64_t b);
};

}  // namespace kolmo::knn
