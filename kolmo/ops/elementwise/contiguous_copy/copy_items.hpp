#pragma once
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
