#pragma once
// Writes the sequences of skeleton/draw.hpp.
#include <cstdint>
#include <iterator>

#include "kolmo/device/grid.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/runtime/cuda/launch.cuh"
#include "kolmo/skeleton/draw.hpp"

namespace kolmo::cuda {
namespace {

/// `block`: the number of threads of a block. Each thread writes all values of a Philox block or, if
/// `by_value`, one of them.
struct DrawShape {
  int block;
  bool by_value = false;
};
constexpr int items_of_a_thread = 4;
constexpr Row<DrawShape> draw_rows[] = {{"block 256", {256}},
                                        {"block 128", {128}},
                                        {"block 512", {512}},
                                        {.name = "value by value", .config = {256, true}, .naive = true}};

template <int V, class Sequence>
__global__ void __launch_bounds__(draw_rows[V].config.block)
    write_random(EarlyStart early, Sequence sequence, std::int64_t items, bool packed) {
  early.wait();
  for (std::int64_t i = thread_index(); i < items; i += thread_count()) {
    if constexpr (draw_rows[V].config.by_value)
      sequence.values[i] = sequence.element(i);
    else
      sequence.write(i, packed);
  }
}

template <class D>
constexpr Impl<typename D::A> draw() {
  using A = typename D::A;
  return ImplCode<A>{
      .rows = draw_rows, .launch = [](const A& a, Arena, Stream& s, int row) {
        D::visit_sequence(a, [&]<class T, class Value>(const RandomSequence<T, Value>& sequence) {
          using Sequence = RandomSequence<T, Value>;
          const bool packed =
              sequence.offset % Sequence::per_block == 0 &&
              reinterpret_cast<std::uintptr_t>(sequence.values) % (sizeof(T) * Sequence::per_block) == 0;
          select<std::size(draw_rows)>(row, [&]<int V> {
            constexpr DrawShape shape = draw_rows[V].config;
            const std::int64_t items = shape.by_value ? sequence.n : sequence.blocks();
            cuda::launch_early(write_random<V, Sequence>, blocks(items, shape.block * items_of_a_thread),
                               shape.block, 0, native(s), sequence, items, packed);
          });
        });
      }};
}

}  // namespace
}  // namespace kolmo::cuda
