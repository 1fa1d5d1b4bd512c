#pragma once
#include <cstdint>
#include <utility>

#include "kolmo/op/impl.hpp"
#include "kolmo/runtime/cpu/parallel.hpp"
#include "kolmo/runtime/cpu/vectors.hpp"
#include "kolmo/runtime/stream.hpp"
#include "kolmo/skeleton/draw.hpp"

namespace kolmo::cpu {

/// Writes blocks [block, end) of the range, in vectors except the first and the last block, which may lie
/// partly outside the range.
template <class T, class Value>
void write_blocks(const RandomSequence<T, Value>& s, std::int64_t block, std::int64_t end) {
  constexpr int each = RandomSequence<T, Value>::per_block;
  if (block == 0) s.write(block++);
  const bool last = end == s.blocks() && end > block;
  const std::int64_t number = s.offset / each + block, whole = end - last - block;
  T* const values = s.values + (number * each - s.offset);
  in_vectors(whole, [=, philox = s.philox, value = s.value](std::int64_t b) {
    const Philox::Words words = philox(std::uint64_t(number + b), 0);
    [&]<std::size_t... J>(std::index_sequence<J...>) {
      ((values[b * each + std::int64_t(J)] = value(words, int(J))), ...);
    }
    (std::make_index_sequence<each>());
  });
  if (last) s.write(end - 1);
}

/// Writes the sequence, on all threads of the stream.
template <class D>
constexpr Impl<typename D::A> draw() {
  using A = typename D::A;
  return ImplCode<A>{.launch = [](const A& a, Arena, Stream& s, int) {
    D::visit_sequence(a, [&](const auto& sequence) {
      parallel_ranges(
          s.threads(), sequence.blocks(),
          [&](std::int64_t block, std::int64_t end) { write_blocks(sequence, block, end); }, 1 << 12);
    });
  }};
}

}  // namespace kolmo::cpu
