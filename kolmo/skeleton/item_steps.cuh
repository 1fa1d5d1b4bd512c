#pragma once
#include "kolmo/device/grid.cuh"
#include "kolmo/op/impl.hpp"
#include "kolmo/runtime/cuda/launch.cuh"

namespace kolmo::cuda {
namespace {

template <int Block, class F>
__global__ void __launch_bounds__(Block, 2) do_step(EarlyStart early, F f, std::int64_t n) {
  early.wait();
  for (std::int64_t i = thread_index(); i < n; i += thread_count()) f(i);
}

/// Queues one step of an operator that takes several: f(i) for all items of a functor as in
/// skeleton/each_item.hpp.
struct ItemSteps {
  Stream& stream;
  template <class F>
  void operator()(const F& f) const {
    constexpr int block = 256;
    constexpr std::int64_t most_blocks = 1 << 16;  // starting more would take longer than their items
    cuda::launch_early(do_step<block, F>, blocks(f.items(), block, most_blocks), block, 0, native(stream), f,
                       f.items());
  }
};

}  // namespace
}  // namespace kolmo::cuda
