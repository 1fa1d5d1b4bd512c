#pragma once
// Kernels that write the sequences of base/random.hpp. Anonymous namespace: see device/grid.cuh.
#include <cstdint>
#include <iterator>

#include "kolmo/base/random.hpp"
#include "kolmo/device/grid.cuh"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo::cuda {
namespace {

/// Threads of a block; each writes what a Philox block gives, or one value of it.
struct RandomShape {
  int block;
  bool by_value = false;
};
inline constexpr RandomShape random_shapes[] = {{256}, {128}, {512}, {256, true}};

template <int Shape, class Sequence>
__global__ void __launch_bounds__(random_shapes[Shape].block)
    write_random(Sequence sequence, std::int64_t items, bool packed) {
  for (std::int64_t i = thread_index(); i < items; i += thread_count()) {
    if constexpr (random_shapes[Shape].by_value)
      sequence.values[i] = sequence.element(i);
    else
      sequence.write(i, packed);
  }
}

/// Writes a sequence by random_shapes[index].
template <class T, class Value>
void write_sequence(int index, const RandomSequence<T, Value>& sequence, Stream& s) {
  using Sequence = RandomSequence<T, Value>;
  const bool packed =
      sequence.offset % Sequence::per_block == 0 &&
      reinterpret_cast<std::uintptr_t>(sequence.values) % (sizeof(T) * Sequence::per_block) == 0;
  select<std::size(random_shapes)>(index, [&]<int I> {
    constexpr RandomShape shape = random_shapes[I];
    const std::int64_t items = shape.by_value ? sequence.n : sequence.blocks();
    cuda::launch(write_random<I, Sequence>, blocks(items, shape.block), shape.block, 0, native(s), sequence,
                 items, packed);
  });
}

}  // namespace
}  // namespace kolmo::cuda
