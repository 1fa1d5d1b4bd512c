#pragma once
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"

namespace kolmo::cpu {

/// Does one step of an operator that takes several: f(i) for every item, with a functor as in
/// skeleton/each_item.hpp, but without scratch, on all threads of the stream, `grain` items at a time.
template <class F>
void do_step(const F& f, Stream& s, std::int64_t grain = 1 << 12) {
  parallel_ranges(
      s.threads(), f.items(),
      [&](std::int64_t i, std::int64_t end) {
        for (; i < end; ++i) f(i);
      },
      grain);
}

}  // namespace kolmo::cpu
