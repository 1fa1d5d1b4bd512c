#pragma once
#include <algorithm>

#include "kolmo/skeleton/steps_cpu.hpp"

namespace kolmo::cpu {

/// Does one step of an operator that takes several: f(i) for all items of a functor as in
/// skeleton/each_item.hpp.
struct ItemSteps {
  Stream& stream;
  template <class F>
  void operator()(const F& f) const {
    do_step(f, stream, 1 << 10);
  }
  /// Does a step whose items are rows of f.n elements, by calls some(f, first row, end).
  template <class F>
  void rows(const F& f, void (*some)(const F&, std::int64_t, std::int64_t)) const {
    const std::int64_t n = std::max<std::int64_t>(f.n, 1);
    parallel_ranges(
        stream.threads(), f.items() / n, [&](std::int64_t first, std::int64_t end) { some(f, first, end); },
        std::max<std::int64_t>(1, 2048 / n));
  }
};

}  // namespace kolmo::cpu
