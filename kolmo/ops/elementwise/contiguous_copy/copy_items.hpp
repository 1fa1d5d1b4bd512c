#pragma once
#include <algorithm>

#include "kolmo/ops/elementwise/contiguous_copy/contiguous_copy.hpp"
#include "kolmo/skeleton/each_item.hpp"
#include "kolmo/skeleton/walk.hpp"

namespace kolmo {

/// 16 bytes, copied at once.
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

/// A transposition: x goes on by 1 along a dimension other than the last. A tile of it and of the last
/// dimension is read along the former and written along the latter. `outer` walks over the other dimensions,
/// in x and in y.
struct Turn {
  bool found = false;
  std::int64_t near = 1, last = 1, near_in_y = 0, last_in_x = 0, outer_size = 1, high = 1, wide = 1;
  int tile_near = 1, tile_last = 1;
  int inverse_near = 0, inverse_last = 0;  ///< 2^20 / extent of a tile, rounded up
  Walk<2> outer;
  static constexpr int tile = 1024;

  explicit Turn(const Walk<1>& w) {
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
    tile_near = int(std::min<std::int64_t>(near, 32));
    tile_last = tile / tile_near;
    high = (near + tile_near - 1) / tile_near, wide = (last + tile_last - 1) / tile_last;
    inverse_near = ((1 << 20) + tile_near - 1) / tile_near,
    inverse_last = ((1 << 20) + tile_last - 1) / tile_last;
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
