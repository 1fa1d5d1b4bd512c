#pragma once
#include "kolmo/op/impl.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/stream.hpp"
#include "kolmo/skeleton/draw.hpp"

namespace kolmo::cpu {

/// Writes the sequence, on all threads of the stream.
template <class D>
constexpr Impl<typename D::A> draw() {
  using A = typename D::A;
  return ImplCode<A>{.launch = [](const A& a, Arena, Stream& s, int) {
    D::visit_sequence(a, [&](const auto& sequence) {
      parallel_ranges(
          s.threads(), sequence.blocks(),
          [&](std::int64_t block, std::int64_t end) {
            for (; block < end; ++block) sequence.write(block);
          },
          1 << 12);
    });
  }};
}

}  // namespace kolmo::cpu
