#pragma once
#include <algorithm>
#include <cstdlib>

#include "kolmo/ops/elementwise/contiguous_copy/contiguous_copy.hpp"
#include "kolmo/skeleton/each_item.hpp"
#include "kolmo/skeleton/walk.hpp"

namespace kolmo {

/// Bytes that are copied at once.
struct SixteenBytes {
  std::uint64_t low, high;
};

template <class T>
struct CopyItem {
  const T* x;
  T* y;
  std::int64_t n;
  Walk<1> walk;

  explicit CopyItem(const ContiguousCopyArgs& a)
      : x(static_cast<const T*>(a.x.data)), y(static_cast<T*>(a.y.data)), n(a.y.size()) {
    const Tensor* const from[] = {&a.x};
    walk = walk_of<1>(a.y, from);
  }
  std::int64_t items() const { return n; }
  KOLMO_HD void operator()(std::int64_t i) const {
    std::int64_t at[1];
    walk.at(i, at);
    y[i] = x[at[0]];
  }
};

/// A transposition: elements that are neighbours in x lie along a dimension `near`, which is not the last
/// one. Tiles span these two dimensions; a tile is read along `near` and written along the last dimension.
/// `outer` walks over the other dimensions, in x and in y.
struct Turn {
  bool found = false;
  std::int64_t near = 1, last = 1, near_in_y = 0, last_in_x = 0, outer_size = 1, high = 1, wide = 1;
  int tile_near = 1, tile_last = 1;
  /// 2^32 / extent of a tile, rounded up; not used for an extent of 1.
  std::uint32_t inverse_near = 0, inverse_last = 0;
  Walk<2> outer;
  /// Number of elements of a tile, which takes 24 KiB at most.
  static constexpr int tile(std::size_t size) { return size < 4 ? 4096 : 16384 / int(size); }

  Turn(const Walk<1>& w, std::size_t size) {
    int d = 0;
    while (d < w.rank && w.step[0][d] != 1) ++d;
    found = d < w.rank - 1;
    if (!found) return;
    std::int64_t in_y[max_rank], step = 1;
    for (int i = w.rank - 1; i >= 0; --i) in_y[i] = step, step *= w.extent[i];
    near = w.extent[d], near_in_y = in_y[d];
    last = w.extent[w.rank - 1], last_in_x = w.step[0][w.rank - 1];
    for (int i = 0; i < w.rank - 1; ++i) {
      if (i == d) continue;
      outer.extent[outer.rank] = w.extent[i], outer_size *= w.extent[i];
      outer.step[0][outer.rank] = w.step[0][i], outer.step[1][outer.rank++] = in_y[i];
    }
    const std::int64_t most = tile(size);
    tile_near = int(std::min(near, std::max<std::int64_t>(32, most / last)));
    tile_last = int(std::min(last, most / tile_near));
    // Rows of a tile then begin where sectors of 32 bytes do.
    if (tile_last > 32) tile_last -= tile_last % 32;
    high = (near + tile_near - 1) / tile_near, wide = (last + tile_last - 1) / tile_last;
    constexpr std::int64_t limit = std::int64_t(1) << 31;  // for offsets within a tile, and for blocks
    found = std::abs(last_in_x) < limit / tile_last && near_in_y < limit / tile_near && tiles() < limit;
    inverse_near = ~0u / unsigned(tile_near) + 1, inverse_last = ~0u / unsigned(tile_last) + 1;
  }
  std::int64_t tiles() const { return outer_size * high * wide; }
};

/// Copies elements by their size; their type does not matter.
struct CopyItems {
  using A = ContiguousCopyArgs;
  template <class T>
  using Function = CopyItem<T>;
  template <class F>
  static void visit_type(const A& a, F&& f) {
    switch (size_of(a.x.dtype)) {
      case 1:
        return f.template operator()<std::uint8_t>();
      case 2:
        return f.template operator()<std::uint16_t>();
      case 4:
        return f.template operator()<std::uint32_t>();
      case 8:
        return f.template operator()<std::uint64_t>();
      default:
        return f.template operator()<SixteenBytes>();
    }
  }
};

}  // namespace kolmo
