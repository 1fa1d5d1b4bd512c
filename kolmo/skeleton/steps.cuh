#pragma once
// Does one step of an operator that takes several: f(i) for every item, with a functor as in
// skeleton/each_item.hpp, but without scratch. cpu::do_step is its sibling.
#include "kolmo/skeleton/each_item.cuh"

namespace kolmo::cuda {
namespace {

template <int Block = 256, class F>
void do_step(const F& f, Stream& s) {
  cuda::launch_early(do_items<Block, F, char>, blocks(f.items(), Block), Block, 0, native(s), f,
                     static_cast<char*>(nullptr), f.items());
}

}  // namespace
}  // namespace kolmo::cuda
